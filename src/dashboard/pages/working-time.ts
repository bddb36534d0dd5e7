/** Hours: who works near or over 48 hours a week, on average over 17 weeks, and where. */
import { count, date, hours, type Page, type Panel, text } from '../panel.ts'

const empty = 'No approved hours here. Widen the filters, or run muster sync and muster build.'

/**
 * Timesheets are approved late, so the very last week is thin: each worker counts with the latest of the last four weeks. The
 * last week is looked up in a mart of one row a week, so that four weeks of worker_week are read instead of every row.
 */
const latestWeeks = `with last as (
  select max(week_ending_date) as week from mart.working_time_weekly where {where} and is_complete_week
), latest as (
  select worker_id, worker_reference, week_ending_date, net_hours, avg_17_week_hours, weeks_averaged,
    is_over_threshold, wtr_risk,
    row_number() over (partition by worker_id order by week_ending_date desc) as place
  from mart.worker_week
  where {where} and is_complete_week and net_hours > 0 and week_ending_date > (select week - 28 from last)
)`

const totals: Panel = {
  id: 'hours-totals',
  title: 'The last four weeks',
  about:
    'Each worker’s latest complete week. An indicator and no legal advice: leave, sickness and opt-outs are not in the data.',
  mart: 'worker_week',
  date: 'week_ending_date',
  sql: `${latestWeeks}
select max(week_ending_date) as week_ending_date,
  count(*) as workers,
  cast(sum(case when is_over_threshold then 1 else 0 end) as bigint) as over_48,
  cast(sum(case when wtr_risk = 'above 48' then 1 else 0 end) as bigint) as average_over_48,
  cast(sum(case when wtr_risk = '44 to 48' then 1 else 0 end) as bigint) as average_near_48,
  max(net_hours) as longest
from latest
where place = 1
having count(*) > 0`,
  show: {
    kind: 'tiles',
    figures: [
      date('week_ending_date', 'Up to week ending'),
      count('workers', 'Workers'),
      count('over_48', 'Over 48 h in the week'),
      count('average_over_48', 'Over 48 h on average'),
      count('average_near_48', '44 to 48 h on average'),
      hours('longest', 'Longest week'),
    ],
  },
  drill: { by: [], order: 'week_ending_date desc, net_hours desc, worker_id' },
  empty,
  isWide: true,
}

const overByWeek: Panel = {
  id: 'over-by-week',
  title: 'Workers over 48 hours, by week',
  about: 'Net hours over all companies and agencies. A week that was not over is hatched.',
  mart: 'working_time_weekly',
  date: 'week_ending_date',
  sql: `select week_ending_date,
  is_complete_week,
  workers_over_threshold as over_48,
  workers_above_48 as average_over_48,
  net_hours as hours
from mart.working_time_weekly
where {where}
order by week_ending_date`,
  show: {
    kind: 'weeks',
    x: 'week_ending_date',
    complete: 'is_complete_week',
    figures: [
      count('over_48', 'Over 48 h in the week'),
      count('average_over_48', 'Over 48 h on average'),
      hours('hours', 'Net hours'),
    ],
  },
  drill: { mart: 'worker_week', by: ['week_ending_date'], order: 'net_hours desc, worker_id' },
  empty,
  isWide: true,
}

const nearAndOver: Panel = {
  id: 'near-and-over',
  title: 'Workers near and over 48 hours',
  about: 'By the average over 17 weeks, in each worker’s latest of the last four complete weeks.',
  mart: 'worker_week',
  date: 'week_ending_date',
  sql: `${latestWeeks}
select worker_id,
  worker_reference,
  week_ending_date,
  avg_17_week_hours,
  net_hours,
  weeks_averaged,
  wtr_risk
from latest
where place = 1 and avg_17_week_hours >= 40
order by avg_17_week_hours desc, worker_id
limit 100`,
  show: {
    kind: 'table',
    figures: [
      text('worker_reference', 'Worker'),
      hours('avg_17_week_hours', '17-week average'),
      hours('net_hours', 'This week'),
      count('weeks_averaged', 'Weeks averaged'),
      text('wtr_risk', 'Average is'),
    ],
  },
  drill: { by: ['worker_id'], order: 'week_ending_date desc' },
  empty: 'Nobody is near 48 hours: no average is 40 hours or more.',
  isWide: true,
}

const heat: Panel = {
  id: 'hours-by-site',
  title: 'Hours by week and site',
  about: 'Net hours of approved timesheets: the twelve busiest sites, the last 26 weeks.',
  mart: 'labour_spend_weekly',
  date: 'week_ending_date',
  sql: `with weeks as (
  select site_id, site_name, week_ending_date, is_complete_week, net_hours from mart.labour_spend_weekly where {where}
), busiest as (
  select site_id from weeks
  where week_ending_date > (select max(week_ending_date) - 182 from weeks)
  group by site_id order by sum(net_hours) desc, site_id limit 12
)
select site_id,
  max(site_name) as site_name,
  week_ending_date,
  bool_and(is_complete_week) as is_complete_week,
  sum(net_hours) as hours
from weeks
where site_id in (select site_id from busiest)
  and week_ending_date > (select max(week_ending_date) - 182 from weeks)
group by site_id, week_ending_date
order by week_ending_date, site_id`,
  show: { kind: 'heat', x: 'week_ending_date', y: 'site_name', figure: hours('hours', 'Net hours') },
  drill: { by: ['site_id', 'week_ending_date'], order: 'net_hours desc nulls last' },
  empty,
  isWide: true,
}

const late: Panel = {
  id: 'late-timesheets',
  title: 'Timesheets by state',
  about: 'Late: approved, or still waiting, more than three days after the end of the week.',
  mart: 'timesheet_state_weekly',
  date: 'week_ending_date',
  sql: `select status,
  sum(timesheets) as timesheets,
  sum(late_timesheets) as late
from mart.timesheet_state_weekly
where {where}
group by status
order by timesheets desc, status`,
  show: {
    kind: 'bars',
    label: 'status',
    figures: [count('timesheets', 'Timesheets'), count('late', 'Late')],
  },
  drill: { mart: 'timesheet_cycle', by: ['status'], order: 'week_ending_date desc, timesheet_id' },
  empty: 'No timesheets here.',
}

export const workingTime: Page = {
  id: 'hours',
  title: 'Hours',
  question: 'Who works too many hours, and where?',
  panels: [totals, overByWeek, nearAndOver, heat, late],
}
