-- Absence and overtime by week. The service marks a whole week of a worker as absent, not single days, and gives no reason:
-- absence here means weeks marked absent, and is not a sickness rate. Overtime is what timelogs call overtime.
-- Grain: one row per week ending, company, project and agency.
-- Question: How much is absence, and how much is overtime?
-- Sources: star.fact_timelog, star.fact_timesheet
-- Measures: sum timesheets, absent_timesheets, standard_hours, overtime_hours, logged_hours; none workers,
--   absent_workers; ratio absence_ratio = absent_timesheets / timesheets; ratio overtime_ratio = overtime_hours /
--   logged_hours
-- Columns:
--   week_ending_date date key: Last day of the week, as the company counts weeks.
--   company_id text key: The hiring company; '-1' when the record names none.
--   project_id text key: The project; '-1' when the record names none.
--   agency_id text key: The agency; '-1' when the record names none.
--   timesheets bigint: Timesheets that are not cancelled; the denominator of absence_ratio.
--   absent_timesheets bigint: Timesheets that are marked as absent; the numerator of absence_ratio.
--   absence_ratio double precision: absent_timesheets / timesheets.
--   workers integer: Different workers with a timesheet that is not marked as absent.
--   absent_workers integer: Different workers with a timesheet that is marked as absent.
--   standard_hours numeric(18,4): Standard hours of timelogs of approved timesheets.
--   overtime_hours numeric(18,4): Overtime hours of the same timelogs; the numerator of overtime_ratio.
--   logged_hours numeric(18,4): All hours of the same timelogs; the denominator of overtime_ratio.
--   overtime_ratio double precision: overtime_hours / logged_hours.
with logged as (
  select
    l.timesheet_id,
    sum(l.standard_hours) as standard_hours,
    sum(l.overtime_hours) as overtime_hours,
    sum(l.total_hours) as total_hours
  from star.fact_timelog as l
  where not l.is_deleted
  group by l.timesheet_id
),

summed as (
  select
    t.week_ending_date,
    t.company_id,
    t.project_id,
    t.agency_id,
    count(*) as timesheets,
    count(*) filter (where t.status = 'absent') as absent_timesheets,
    count(distinct t.worker_id) filter (where t.status <> 'absent' and t.worker_id <> '-1') as workers,
    count(distinct t.worker_id) filter (where t.status = 'absent' and t.worker_id <> '-1') as absent_workers,
    sum(case when t.status = 'approved' then coalesce(logged.standard_hours, 0) else 0 end) as standard_hours,
    sum(case when t.status = 'approved' then coalesce(logged.overtime_hours, 0) else 0 end) as overtime_hours,
    sum(case when t.status = 'approved' then coalesce(logged.total_hours, 0) else 0 end) as logged_hours
  from star.fact_timesheet as t
  left join logged on logged.timesheet_id = t.timesheet_id
  where not t.is_deleted and t.week_ending_date is not null and t.status <> 'cancelled'
  group by t.week_ending_date, t.company_id, t.project_id, t.agency_id
)

select
  s.week_ending_date,
  s.company_id,
  s.project_id,
  s.agency_id,
  s.timesheets,
  s.absent_timesheets,
  cast(s.absent_timesheets as double precision) / nullif(s.timesheets, 0) as absence_ratio,
  s.workers,
  s.absent_workers,
  s.standard_hours,
  s.overtime_hours,
  s.logged_hours,
  cast(s.overtime_hours as double precision) / nullif(cast(s.logged_hours as double precision), 0) as overtime_ratio
from summed as s
