/** Headcount: who works where, who joins and leaves, how long workers stay, and what ends soon. */
import { count, type DashboardPage, date, hours, money, type Panel, share, text } from '../panel.ts'

const headcount: Panel = {
  id: 'headcount',
  title: 'People on site, each counted once',
  about:
    'Different workers over all companies, by week from Monday to Sunday: with an assignment, and with approved hours. Hatched: not settled.',
  mart: 'headcount_total_overall',
  date: 'week_ending_date',
  sql: `select week_ending_date,
  is_settled_week,
  workers,
  worked_headcount as with_hours
from mart.headcount_total_overall
where {where}
order by week_ending_date`,
  show: {
    kind: 'weeks',
    x: 'week_ending_date',
    settled: 'is_settled_week',
    figures: [count('workers', 'With an assignment'), count('with_hours', 'With hours')],
  },
  drill: { mart: 'headcount_total_by_company', by: ['week_ending_date'], order: 'workers desc, company_id' },
  empty: 'No assignments here.',
  isWide: true,
}

/** Workers of the last settled week by one dimension; a worker at two projects counts at each. */
function workersBy(name: 'project' | 'agency'): Panel {
  const mart = `headcount_total_by_${name}`
  return {
    id: `workers-by-${name}`,
    title: `Who works where, by ${name}`,
    about: `Different workers in the last settled week; one who works for two counts at each, so they do not add up.`,
    mart,
    date: 'week_ending_date',
    sql: `with settled as (
  select max(week_ending_date) as week from mart.${mart} where {where} and is_settled_week
)
select ${name}_id,
  ${name}_name,
  workers,
  worked_headcount as with_hours
from mart.${mart}
where {where} and week_ending_date = (select week from settled) and workers > 0
order by workers desc, ${name}_id
limit 200`,
    show: {
      kind: 'bars',
      label: `${name}_name`,
      figures: [count('workers', 'With an assignment'), count('with_hours', 'With hours')],
    },
    drill: { by: [`${name}_id`], order: 'week_ending_date desc' },
    empty: 'No week is settled here yet. Widen the filters, or wait until as much is approved as usual.',
  }
}

const flow: Panel = {
  id: 'joiners-and-leavers',
  title: 'Joiners and leavers, by month',
  about:
    'By company and agency: moving between assignments of the same two is not leaving. The current month ends today.',
  mart: 'workforce_flow',
  date: 'month_start_date',
  sql: `select month_start_date,
  cast(sum(starters) as bigint) as starters,
  cast(sum(new_starters) as bigint) as new_starters,
  cast(sum(leavers) as bigint) as leavers
from mart.workforce_flow
where {where}
group by month_start_date
order by month_start_date desc
limit 24`,
  show: {
    kind: 'table',
    figures: [
      date('month_start_date', 'Month from'),
      count('starters', 'Joined'),
      count('new_starters', 'For the first time'),
      count('leavers', 'Left'),
    ],
  },
  drill: { by: ['month_start_date'], order: 'leavers desc, starters desc, company_id, agency_id' },
  empty: 'No assignment has begun here. Run muster sync, then muster build.',
  isWide: true,
}

const tenure: Panel = {
  id: 'tenure',
  title: 'Tenure, in weeks worked',
  about: 'Workers by company and trade. From 12 weeks on the Agency Workers Regulations ask for equal pay.',
  mart: 'assignment_tenure',
  date: 'last_week_ending_date',
  sql: `select tenure_band,
  count(*) as workers,
  cast(sum(case when is_awr_qualified then 1 else 0 end) as bigint) as qualified,
  cast(sum(case when is_awr_qualified then 1 else 0 end) as double precision) / count(*) as qualified_share
from mart.assignment_tenure
where {where}
group by tenure_band
order by min(weeks_worked)`,
  show: {
    kind: 'bars',
    label: 'tenure_band',
    inOrder: true,
    figures: [
      count('workers', 'Workers'),
      count('qualified', 'Past 12 weeks'),
      share('qualified_share', 'Share past 12 weeks'),
    ],
  },
  drill: { by: ['tenure_band'], order: 'weeks_worked desc, worker_id' },
  empty: 'No worker has approved hours here.',
}

const ending: Panel = {
  id: 'ending-soon',
  title: 'Assignments that end soon',
  about:
    'Confirmed assignments by their planned end, counted from the last build. 8 and 12 weeks include those before.',
  mart: 'assignment_outcome',
  date: 'last_date',
  sql: `select sum(ends_in_4_weeks) as in_4_weeks,
  sum(ends_in_8_weeks) as in_8_weeks,
  sum(ends_in_12_weeks) as in_12_weeks,
  count(case when end_band = 'past its end' then 1 end) as past_end,
  count(case when end_band = 'no end known' then 1 end) as no_end
from mart.assignment_outcome
where {where} and status = 'confirmed'
having count(*) > 0`,
  show: {
    kind: 'tiles',
    figures: [
      count('in_4_weeks', 'Within 4 weeks'),
      count('in_8_weeks', 'Within 8 weeks'),
      count('in_12_weeks', 'Within 12 weeks'),
      count('past_end', 'Past their end'),
      count('no_end', 'No end known'),
    ],
  },
  drill: {
    by: [],
    order: 'ends_in_4_weeks desc, ends_in_8_weeks desc, ends_in_12_weeks desc, last_date, assignment_id',
  },
  empty: 'No confirmed assignment here.',
  isWide: true,
}

const earlyLeavers: Panel = {
  id: 'left-within-4-weeks',
  title: 'Left within four weeks, by agency and trade',
  about:
    'Assignments ended within 28 days of their start, of those that began at least 28 days ago. Work that was completed sooner is left out.',
  mart: 'assignment_outcome',
  date: 'start_date',
  sql: `select agency_id,
  trade_id,
  max(agency_name) as agency_name,
  max(trade_name) as trade_name,
  sum(left_within_4_weeks) as left_early,
  sum(four_week_starts) as starts,
  cast(sum(left_within_4_weeks) as double precision)
    / nullif(cast(sum(four_week_starts) as double precision), 0) as share_left
from mart.assignment_outcome
where {where} and four_week_starts > 0
group by agency_id, trade_id
having sum(left_within_4_weeks) > 0
order by left_early desc, share_left desc, agency_id, trade_id
limit 200`,
  show: {
    kind: 'table',
    figures: [
      text('agency_name', 'Agency'),
      text('trade_name', 'Trade'),
      count('left_early', 'Left'),
      count('starts', 'Starts'),
      share('share_left', 'Of starts'),
    ],
  },
  drill: { by: ['agency_id', 'trade_id'], order: 'left_within_4_weeks desc, start_date desc, assignment_id' },
  empty: 'No assignment here ended within four weeks of its start.',
  isWide: true,
}

const umbrellas: Panel = {
  id: 'umbrellas',
  title: 'Umbrella companies',
  about:
    'Workers whose assignment names an umbrella company, each once, and the charge of their approved timesheets. Agencies name the same one apart: by its name. Dates choose assignments by their first day.',
  mart: 'assignment_outcome',
  date: 'start_date',
  sql: `select umbrella_name,
  count(distinct nullif(worker_id, '-1')) as workers,
  count(*) as assignments,
  sum(net_hours) as hours,
  sum(charge_value) as charge
from mart.assignment_outcome
where {where} and umbrella_id <> '-1'
group by umbrella_name
order by charge desc, umbrella_name
limit 200`,
  show: {
    kind: 'bars',
    label: 'umbrella_name',
    figures: [
      money('charge', 'Charge'),
      count('workers', 'Workers'),
      hours('hours', 'Hours'),
      count('assignments', 'Assignments'),
    ],
  },
  drill: { by: ['umbrella_name'], order: 'charge_value desc, assignment_id' },
  empty: 'No assignment names an umbrella company here.',
}

export const headcountPage: DashboardPage = {
  id: 'headcount',
  title: 'Headcount',
  question: 'Who works where, and who joins and leaves?',
  panels: [
    headcount,
    workersBy('project'),
    workersBy('agency'),
    ending,
    tenure,
    umbrellas,
    flow,
    earlyLeavers,
  ],
}
