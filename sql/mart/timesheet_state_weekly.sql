-- Timesheets by state and week, and how many of them are late: a small summary of mart.timesheet_cycle. A timesheet without
-- a week is left out.
-- Grain: one row per week ending, company, project, site, agency and state.
-- Question: How many timesheets wait, and how many are late?
-- Assumption: that of mart.timesheet_cycle: late is from the fourth day after the end of the week.
-- Sources: mart.timesheet_cycle
-- Measures: sum timesheets, late_timesheets, status_changes
-- Columns:
--   week_ending_date date key: Last day of the week, as the company counts weeks.
--   company_id text key: The hiring company; '-1' when the record names none.
--   project_id text key: The project; '-1' when the record names none.
--   site_id text key: The site; '-1' when the record names none.
--   agency_id text key: The agency; '-1' when the record names none.
--   status text key: State: pending, pending_approval, approved, cancelled or absent; unknown when the record gives none.
--   timesheets bigint: Timesheets in this state.
--   late_timesheets bigint: Timesheets that are late; 0 for absences and cancelled ones.
--   status_changes bigint: Changes of their state that a sync has seen.
select
  t.week_ending_date,
  t.company_id,
  t.project_id,
  t.site_id,
  t.agency_id,
  coalesce(t.status, 'unknown') as status,
  count(*) as timesheets,
  count(*) filter (where t.is_late) as late_timesheets,
  sum(t.status_changes) as status_changes
from mart.timesheet_cycle as t
where t.week_ending_date is not null
group by t.week_ending_date, t.company_id, t.project_id, t.site_id, t.agency_id, coalesce(t.status, 'unknown')
