/** Cost: what approved labour costs, by week, agency, project, trade, kind of hour and cost code. */
import {
  count,
  type DashboardPage,
  date,
  hours,
  money,
  type Panel,
  price,
  share,
  withPending,
} from '../panel.ts'

const empty = 'No approved timesheets here. Widen the filters, or run muster sync and muster build.'

const spendFigures = [
  money('cost', 'Labour cost'),
  hours('hours', 'Hours worked'),
  price('cost_per_hour', 'Cost an hour'),
  money('margin', 'Charge less pay'),
]

const weekFigures = [
  withPending(money('cost', 'Labour cost'), 'pending'),
  ...spendFigures.slice(1),
  money('pending', 'Waiting for approval'),
]

const spendSums = `sum(cost_value) as cost,
  sum(net_hours) as hours,
  cast(sum(cost_value) as double precision) / nullif(cast(sum(net_hours) as double precision), 0) as cost_per_hour,
  sum(margin_value) as margin`

const settledWeek = `with settled as (
  select max(week_ending_date) as week from mart.labour_spend_weekly where {where} and is_settled_week
)`

const noSettledWeek = 'No settled week here. Widen the filters, or wait until as much is approved as usual.'

/** Labour spend by one of its dimensions; `by` identifies its members. */
function spendBy(name: string, by = `${name}_id`): Panel {
  return {
    id: `cost-by-${name}`,
    title: `By ${name}`,
    about: 'Charge and expenses of approved timesheets, up to the last settled week.',
    mart: 'labour_spend_weekly',
    date: 'week_ending_date',
    sql: `${settledWeek}
select ${by},
  max(${name}_name) as ${name}_label,
  ${spendSums}
from mart.labour_spend_weekly
where {where} and week_ending_date <= (select week from settled)
group by ${by}
order by cost desc nulls last, ${by}
limit 200`,
    show: { kind: 'bars', label: `${name}_label`, figures: spendFigures },
    drill: { by: [by], order: 'week_ending_date desc, cost_value desc nulls last' },
    empty: noSettledWeek,
  }
}

const totals: Panel = {
  id: 'cost-totals',
  title: 'Labour up to the last settled week',
  about:
    'Approved timesheets with their expenses, in the currency of the company. Later weeks are left out: more of them waits for approval than usual.',
  mart: 'labour_spend_weekly',
  date: 'week_ending_date',
  sql: `${settledWeek}
select ${spendSums},
  cast(sum(margin_value) as double precision) / nullif(cast(sum(charge_value) as double precision), 0) as margin_share,
  sum(timesheets) as timesheets,
  max(week_ending_date) as week_ending_date
from mart.labour_spend_weekly
where {where} and week_ending_date <= (select week from settled)
having count(*) > 0`,
  show: {
    kind: 'tiles',
    figures: [
      ...spendFigures,
      share('margin_share', 'Charge less pay, of the charge'),
      count('timesheets', 'Timesheets'),
      date('week_ending_date', 'Up to week ending'),
    ],
  },
  drill: { by: [], order: 'week_ending_date desc, cost_value desc nulls last' },
  empty: noSettledWeek,
  isWide: true,
}

const byWeek: Panel = {
  id: 'cost-by-week',
  title: 'By week',
  about:
    'Hatched: not settled, as less of the week is approved than usual. Lighter, on top of it: what waits for approval.',
  mart: 'labour_spend_weekly',
  date: 'week_ending_date',
  sql: `select week_ending_date,
  bool_and(is_settled_week) as is_settled_week,
  ${spendSums},
  sum(pending_value) as pending
from mart.labour_spend_weekly
where {where}
group by week_ending_date
order by week_ending_date`,
  show: { kind: 'weeks', x: 'week_ending_date', settled: 'is_settled_week', figures: weekFigures },
  drill: { by: ['week_ending_date'], order: 'cost_value desc nulls last' },
  empty,
  isWide: true,
}

const premium: Panel = {
  id: 'overtime-premium',
  title: 'Charge by kind of hour',
  about: 'Everything but plain weekday time is paid at a premium.',
  mart: 'overtime_uplift',
  date: 'week_ending_date',
  sql: `select hour_type,
  bool_or(is_premium) as is_premium,
  sum(charge_value) as charge,
  sum(pay_value) as pay,
  cast(sum(charge_value) as double precision)
    / nullif(cast(sum(sum(charge_value)) over () as double precision), 0) as share_of_charge
from mart.overtime_uplift
where {where}
group by hour_type
order by charge desc nulls last, hour_type`,
  show: {
    kind: 'bars',
    label: 'hour_type',
    figures: [money('charge', 'Charge'), share('share_of_charge', 'Of all charge'), money('pay', 'Pay')],
  },
  drill: { by: ['hour_type'], order: 'week_ending_date desc, charge_value desc nulls last' },
  empty,
}

const premiumByWeek: Panel = {
  id: 'premium-by-week',
  title: 'Premium hours, of the charge',
  about:
    'Overtime, nights, weekends and bank holidays, as a share of the charge of the week. Hollow or hatched: not settled.',
  mart: 'overtime_uplift',
  date: 'week_ending_date',
  sql: `select week_ending_date,
  bool_and(is_settled_week) as is_settled_week,
  cast(sum(case when is_premium then charge_value else 0 end) as double precision)
    / nullif(cast(sum(charge_value) as double precision), 0) as premium_share,
  sum(case when is_premium then charge_value else 0 end) as premium_charge
from mart.overtime_uplift
where {where}
group by week_ending_date
order by week_ending_date`,
  show: {
    kind: 'weeks',
    x: 'week_ending_date',
    settled: 'is_settled_week',
    figures: [share('premium_share', 'Share at a premium'), money('premium_charge', 'Charge at a premium')],
  },
  drill: { by: ['week_ending_date'], order: 'charge_value desc nulls last' },
  empty,
}

const costCodes: Panel = {
  id: 'cost-codes',
  title: 'By cost code',
  about:
    'The charge of a timelog is divided in proportion to its hours. Codes of the same name are one; Unknown is not allocated.',
  mart: 'cost_code_spend',
  date: 'week_ending_date',
  sql: `select cost_code_name,
  sum(charge_value) as charge,
  sum(hours) as hours,
  sum(expense_value) as expenses
from mart.cost_code_spend
where {where}
group by cost_code_name
order by charge desc nulls last, cost_code_name
limit 200`,
  show: {
    kind: 'bars',
    label: 'cost_code_name',
    figures: [money('charge', 'Charge'), hours('hours', 'Hours worked'), money('expenses', 'Expenses')],
  },
  drill: { by: ['cost_code_name'], order: 'week_ending_date desc, charge_value desc nulls last' },
  empty,
}

export const cost: DashboardPage = {
  id: 'cost',
  title: 'Cost',
  question: 'What does labour cost, where, and why?',
  panels: [
    totals,
    byWeek,
    spendBy('agency'),
    spendBy('project'),
    // Each company has trades of its own; people compare them by their names.
    spendBy('trade', 'trade_name'),
    costCodes,
    premium,
    premiumByWeek,
  ],
}
