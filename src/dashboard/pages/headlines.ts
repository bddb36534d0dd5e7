/** The eight headline figures of the overview: six of the last settled week, two as they stand now. */
import { count, date, days, hours, money, type Panel, type PanelFigure, price } from '../panel.ts'

/** The Sunday that ends the week with most of the days of a company's week: one calendar for all companies. */
const sunday = `week_ending_date - 3 + cast(7 - extract(isodow from week_ending_date - 3) as integer)`

/** Two years of weeks reach the same week last year from the last settled one. */
const daysBack = 735

const noWeek =
  'No week is settled here yet: a week is settled once as much of it is approved as usual. Widen the filters, or run muster sync and muster build.'

interface WeeklyHeadline {
  readonly id: string
  readonly about: string
  readonly mart: string
  readonly page: string
  readonly figure: PanelFigure
  /** Column that adds up, and a condition of its rows. */
  readonly column: string
  readonly only?: string
  /** Of a ratio: the column that divides it; its change has no members. */
  readonly per?: string
}

const totalOf = ({ column, per }: WeeklyHeadline): string =>
  per === undefined
    ? `sum(${column}) as figure`
    : `cast(sum(${column}) as double precision) / nullif(cast(sum(${per}) as double precision), 0) as figure,
  cast(sum(${column}) as double precision) as numerator,
  cast(sum(${per}) as double precision) as denominator`

/** What each agency at each project has in the last settled week, and had on average in the four before. */
const membersSql = (names: readonly string[]): string => `, places as (
  select week, row_number() over (order by week desc) as place
  from weeks
  where is_settled_week
  order by week desc
  limit 5
), members as (
  select ${names.map(name => `coalesce(max(${name}_name), 'Unknown') as ${name}_name`).join(', ')},
    sum(case when place = 1 then value else 0 end) as now_figure,
    sum(case when place > 1 then value else 0 end)
      / nullif((select count(*) - 1 from places), 0) as figure_before
  from entries
  join places on places.week = entries.week
  group by ${names.map(name => `${name}_id`).join(', ')}
  order by abs(sum(case when place = 1 then value else 0 end)
    - coalesce(sum(case when place > 1 then value else 0 end) / nullif((select count(*) - 1 from places), 0), 0)) desc, ${names.map(name => `${name}_id`).join(', ')}
  limit 20
)`

const weeklySql = (asked: WeeklyHeadline, names: readonly string[]): string => {
  const { mart, column, per, only = 'true' } = asked
  const hasMembers = names.length > 0
  const columns = [column, ...(per ? [per] : []), ...names.flatMap(name => [`${name}_id`, `${name}_name`])]
  const rows = `with entries as materialized (
  select ${sunday} as week, is_settled_week, ${columns.join(', ')}${hasMembers ? `, ${column} as value` : ''}
  from mart.${mart}
  where {where} and ${only}
), weeks as materialized (
  select week, bool_and(is_settled_week) as is_settled_week, ${totalOf(asked)}
  from entries
  group by week
)`
  const recent = `where week > (select max(week) from weeks) - ${daysBack}`
  if (!hasMembers) return `${rows}\nselect * from weeks\n${recent}\norder by week`
  return `${rows}${membersSql(names)}
select week, is_settled_week, figure, null as agency_name, null as project_name, null as now_figure, null as figure_before
from weeks
${recent}
union all
select null, null, null, agency_name, ${names.includes('project') ? 'project_name' : 'null'}, now_figure, figure_before
from members
order by week, agency_name, project_name, now_figure, figure_before`
}

function weekly(asked: WeeklyHeadline, names: readonly string[] = []): Panel {
  const { id, about, mart, page, figure, column } = asked
  return {
    ...{ id, about, mart, title: figure.label, date: 'week_ending_date', isCompared: true },
    sql: weeklySql(asked, names),
    show: { kind: 'headline', figure, week: 'week', page },
    drill: { by: [], order: `week_ending_date desc, ${column} desc nulls last` },
    empty: noWeek,
  }
}

const labour = { mart: 'labour_spend_weekly', page: 'cost' }
const byAgencyAndProject = ['agency', 'project']

const labourCost = weekly(
  {
    ...labour,
    id: 'headline-cost',
    about: 'Charge and expenses of approved timesheets.',
    figure: money('figure', 'Labour cost'),
    column: 'cost_value',
  },
  byAgencyAndProject,
)

const hoursWorked = weekly(
  {
    ...labour,
    id: 'headline-hours',
    about: 'Net hours of approved timesheets.',
    figure: hours('figure', 'Hours worked'),
    column: 'net_hours',
  },
  byAgencyAndProject,
)

const costAnHour = weekly({
  ...labour,
  id: 'headline-cost-an-hour',
  about: 'Labour cost over hours worked.',
  figure: price('figure', 'Cost an hour'),
  column: 'cost_value',
  per: 'net_hours',
})

const invoiced = weekly(
  {
    id: 'headline-invoiced',
    about: 'Invoices for the week, after deductions and without credit notes.',
    mart: 'invoice_ledger',
    page: 'money',
    figure: money('figure', 'Invoiced'),
    column: 'final_value',
    only: `document_type = 'invoice' and week_ending_date is not null`,
  },
  ['agency'],
)

/** Workers of a week do not add up over weeks, so the one row of each week is read as it is. */
const workers: Panel = {
  id: 'headline-workers',
  title: 'Workers with hours',
  about: 'Different workers with approved hours, each counted once.',
  mart: 'headcount_total_overall',
  date: 'week_ending_date',
  isCompared: true,
  sql: `select week_ending_date as week, is_settled_week, worked_headcount as figure
from mart.headcount_total_overall
where {where}
order by week_ending_date desc
limit 105`,
  show: { kind: 'headline', figure: count('figure', 'Workers with hours'), week: 'week', page: 'headcount' },
  drill: { mart: 'headcount_total_by_company', by: [], order: 'week_ending_date desc, workers desc' },
  empty: noWeek,
}

const waiting: Panel = {
  id: 'headline-waiting',
  title: 'Waiting for approval',
  about: 'Charge of timesheets that wait for submission or approval.',
  mart: 'labour_spend_weekly',
  date: 'week_ending_date',
  sql: `select sum(pending_value) as figure, cast(sum(pending_timesheets) as bigint) as timesheets,
  min(case when pending_timesheets > 0 then week_ending_date end) as oldest_week
from mart.labour_spend_weekly
where {where}
having count(*) > 0`,
  show: {
    kind: 'headline',
    figure: money('figure', 'Waiting for approval'),
    page: 'hours',
    also: [count('timesheets', 'Timesheets'), date('oldest_week', 'Oldest week ending')],
  },
  drill: { by: [], order: 'pending_value desc, week_ending_date desc' },
  empty: 'No timesheets are stored here. Widen the filters, or run muster sync and muster build.',
}

const notInvoiced: Panel = {
  id: 'headline-not-invoiced',
  title: 'Worked and not invoiced',
  about: 'Timesheets and approved claims that no invoice bills to the company yet.',
  mart: 'unbilled_accrual',
  date: 'week_ending_date',
  sql: `select sum(accrued_value) as figure,
  count(*) as records,
  max(age_days) as oldest_days
from mart.unbilled_accrual
where {where}
having count(*) > 0`,
  show: {
    kind: 'headline',
    figure: money('figure', 'Worked and not invoiced'),
    page: 'money',
    also: [count('records', 'Timesheets and claims'), days('oldest_days', 'Oldest')],
  },
  drill: { by: [], order: 'age_days desc, accrued_value desc nulls last' },
  empty: 'Everything that was worked is invoiced.',
}

/** An average of days has no sum: those of several weeks weigh by their acceptances. A week settles when it is over. */
const daysToFill: Panel = {
  id: 'headline-days-to-fill',
  title: 'Days to fill',
  about:
    'Average from approval to acceptance, of all acceptances of the week in all companies, without the outliers of their trade.',
  mart: 'time_to_fill_detail',
  isCompared: true,
  sql: `with answers as (
  select cast(accepted_at at time zone 'UTC' as date) as day,
    cast(as_of at time zone 'UTC' as date) as read_on,
    cast(approved_to_accepted_days as double precision) as days
  from mart.time_to_fill_detail
  where {where} and not is_outlier_trade and approved_to_accepted_days is not null
), weeks as materialized (
  select day + cast(7 - extract(isodow from day) as integer) as week, read_on, days
  from answers
)
select week,
  bool_and(week < read_on) as is_settled_week,
  avg(days) as figure,
  avg(days) * count(*) as numerator,
  cast(count(*) as double precision) as denominator
from weeks
where week > (select max(week) from weeks) - ${daysBack}
group by week
order by week`,
  show: { kind: 'headline', figure: days('figure', 'Days to fill'), week: 'week', page: 'hiring' },
  drill: { by: [], order: 'accepted_at desc nulls last' },
  empty: 'No agency has accepted a requisition here. Widen the filters.',
}

export const headlines: readonly Panel[] = [
  ...[labourCost, hoursWorked, costAnHour, workers],
  ...[invoiced, waiting, notInvoiced, daysToFill],
]
