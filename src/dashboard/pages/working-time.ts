/** Hours: who works near or over 48 hours a week, on average over 17 weeks, and where. */
import { count, type DashboardPage, date, hours, type Panel, share, text, withPending } from '../panel.ts'

const empty = 'No approved hours here. Widen the filters, or run muster sync and muster build.'

/** One week for all workers: a mart with one row a week gives it, so that one week of worker_week is read. */
const settledWeek = `with settled as (
  select max(week_ending_date) as week from mart.working_time_weekly where {where} and is_settled_week
)`

const totals: Panel = {
  id: 'hours-totals',
  title: 'The last settled week',
  about:
    'The same week for all workers: the last one with as much approved as usual. An indicator, not legal advice: leave, sickness and opt-outs are not in the data.',
  mart: 'worker_week',
  date: 'week_ending_date',
  sql: `${settledWeek}
select max(week_ending_date) as week_ending_date,
  cast(sum(case when net_hours > 0 then 1 else 0 end) as bigint) as workers,
  cast(sum(case when is_over_threshold then 1 else 0 end) as bigint) as over_48,
  cast(sum(case when wtr_risk = 'above 48' then 1 else 0 end) as bigint) as average_over_48,
  cast(sum(case when wtr_risk = '44 to 48' then 1 else 0 end) as bigint) as average_near_48,
  max(net_hours) as longest
from mart.worker_week
where {where} and week_ending_date = (select week from settled)
having count(*) > 0`,
  show: {
    kind: 'tiles',
    figures: [
      date('week_ending_date', 'Week ending'),
      count('workers', 'Workers with hours'),
      count('over_48', 'Over 48 h in the week'),
      count('average_over_48', 'Over 48 h on average'),
      count('average_near_48', '44 to 48 h on average'),
      hours('longest', 'Longest week'),
    ],
  },
  drill: { by: ['week_ending_date'], order: 'net_hours desc, worker_id' },
  empty: 'No settled week here. Widen the filters, or wait until as much is approved as usual.',
  isWide: true,
}

const overByWeek: Panel = {
  id: 'over-by-week',
  title: 'Workers over 48 hours, by week',
  about:
    'Over all companies and agencies, also those that the service’s own metric leaves out. Hatched: not settled, as less of the week is approved than usual. Lighter, on top of the hours: what waits for approval.',
  mart: 'working_time_weekly',
  date: 'week_ending_date',
  sql: `select week_ending_date,
  is_settled_week,
  workers_over_threshold as over_48,
  workers_above_48 as average_over_48,
  net_hours as hours,
  pending_hours as pending
from mart.working_time_weekly
where {where}
order by week_ending_date`,
  show: {
    kind: 'weeks',
    x: 'week_ending_date',
    settled: 'is_settled_week',
    figures: [
      count('over_48', 'Over 48 h in the week'),
      count('average_over_48', 'Over 48 h on average'),
      withPending(hours('hours', 'Hours worked'), 'pending'),
      hours('pending', 'Waiting for approval'),
    ],
  },
  drill: { mart: 'worker_week', by: ['week_ending_date'], order: 'net_hours desc, worker_id' },
  empty,
  isWide: true,
}

const restAndNight: Panel = {
  id: 'rest-and-night',
  title: 'Short rest and night work, by week',
  about:
    'From timelogs with a start and an end. Short rest: a day that began within 11 hours of the one before; night: 3 hours between 23:00 and 06:00. An indicator, not legal advice.',
  mart: 'working_time_weekly',
  date: 'week_ending_date',
  sql: `select week_ending_date,
  is_settled_week,
  workers_with_short_rest as short_rest,
  short_rests,
  night_workers,
  night_shifts,
  night_hours
from mart.working_time_weekly
where {where}
order by week_ending_date`,
  show: {
    kind: 'weeks',
    x: 'week_ending_date',
    settled: 'is_settled_week',
    figures: [
      count('short_rest', 'Workers with a short rest'),
      count('short_rests', 'Short rests'),
      count('night_workers', 'Night workers'),
      count('night_shifts', 'Night shifts'),
      hours('night_hours', 'Night hours'),
    ],
  },
  drill: {
    mart: 'worker_week',
    by: ['week_ending_date'],
    order: 'short_rests desc, night_hours desc, worker_id',
  },
  empty,
  isWide: true,
}

const nearAndOver: Panel = {
  id: 'near-and-over',
  title: 'Workers near and over 48 hours',
  about: 'By the average over the 17 weeks up to the last settled week, which is the same for all workers.',
  mart: 'worker_week',
  date: 'week_ending_date',
  sql: `${settledWeek}
select worker_id,
  worker_reference,
  week_ending_date,
  avg_17_week_hours,
  net_hours,
  weeks_averaged,
  wtr_risk
from mart.worker_week
where {where} and week_ending_date = (select week from settled) and avg_17_week_hours >= 40
order by avg_17_week_hours desc, worker_id
limit 100`,
  show: {
    kind: 'table',
    figures: [
      text('worker_reference', 'Worker'),
      date('week_ending_date', 'Week ending'),
      hours('avg_17_week_hours', '17-week average'),
      hours('net_hours', 'This week'),
      count('weeks_averaged', 'Weeks averaged'),
      text('wtr_risk', 'Average is'),
    ],
  },
  drill: { by: ['worker_id'], order: 'week_ending_date desc' },
  empty: 'No worker is near 48 hours: every average is below 40 hours.',
  isWide: true,
}

const heat: Panel = {
  id: 'hours-by-site',
  title: 'Hours by week and site',
  about:
    'Net hours of approved timesheets: the twelve busiest sites, the last 26 weeks. Hatched: not settled.',
  mart: 'labour_spend_weekly',
  date: 'week_ending_date',
  sql: `with weeks as (
  select site_id, site_name, week_ending_date, is_settled_week, net_hours from mart.labour_spend_weekly where {where}
), busiest as (
  select site_id from weeks
  where week_ending_date > (select max(week_ending_date) - 182 from weeks)
  group by site_id order by sum(net_hours) desc, site_id limit 12
)
select site_id,
  max(site_name) as site_name,
  week_ending_date,
  bool_and(is_settled_week) as is_settled_week,
  sum(net_hours) as hours
from weeks
where site_id in (select site_id from busiest)
  and week_ending_date > (select max(week_ending_date) - 182 from weeks)
group by site_id, week_ending_date
order by week_ending_date, site_id`,
  show: {
    kind: 'heat',
    x: 'week_ending_date',
    y: 'site_name',
    settled: 'is_settled_week',
    figure: hours('hours', 'Hours worked'),
  },
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
  standsNow: true,
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

const planned: Panel = {
  id: 'planned-and-worked',
  title: 'Planned and worked hours, by project',
  about:
    'The shift pattern of assignments beside the hours of the same weeks, approved timesheets only. Assignments without a pattern are left out. Dates choose assignments by their first day.',
  mart: 'assignment_outcome',
  date: 'start_date',
  sql: `select project_id,
  max(project_name) as project_name,
  sum(planned_hours) as planned,
  sum(worked_hours) as worked,
  cast(sum(worked_hours) as double precision) / nullif(cast(sum(planned_hours) as double precision), 0) as worked_share
from mart.assignment_outcome
where {where} and planned_hours is not null
group by project_id
order by planned desc, project_id
limit 200`,
  show: {
    kind: 'bars',
    label: 'project_name',
    figures: [
      hours('planned', 'Planned hours'),
      hours('worked', 'Worked hours'),
      share('worked_share', 'Worked, of planned'),
    ],
  },
  drill: { by: ['project_id'], order: 'planned_hours desc nulls last, assignment_id' },
  empty: 'No worked assignment has a shift pattern here.',
  isWide: true,
}

const approvers: Panel = {
  id: 'approval-by-approver',
  title: 'Approval time, by approver',
  about:
    'Hours from submission to approval, nights and weekends included. Timesheets whose submission is not known are counted apart.',
  mart: 'timesheet_cycle',
  date: 'week_ending_date',
  sql: `select approved_by_user_id,
  max(approved_by_user_reference) as approver,
  avg(cast(approval_hours as double precision)) as average_hours,
  count(approval_hours) as measured,
  count(case when approval_hours is null then 1 end) as not_measured,
  count(case when is_late then 1 end) as late
from mart.timesheet_cycle
where {where} and status = 'approved'
group by approved_by_user_id
order by average_hours desc nulls last, approved_by_user_id
limit 200`,
  show: {
    kind: 'bars',
    label: 'approver',
    figures: [
      hours('average_hours', 'Average hours'),
      count('measured', 'Timesheets measured'),
      count('not_measured', 'Submission not known'),
      count('late', 'Late'),
    ],
  },
  drill: { by: ['approved_by_user_id'], order: 'approval_hours desc nulls last, timesheet_id' },
  empty: 'No timesheet was approved here.',
}

export const workingTime: DashboardPage = {
  id: 'hours',
  title: 'Hours',
  question: 'Who works too many hours, and where?',
  panels: [totals, overByWeek, restAndNight, nearAndOver, heat, late, approvers, planned],
}
