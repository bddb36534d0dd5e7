-- Timesheets whose hours and money the marts count: approved, with a week.
approved_timesheet as (
  select net_hours, charge_total, worker_id, company_id, agency_id, assignment_id
  from star.fact_timesheet
  where not is_deleted and status = 'approved' and week_ending_date is not null
)
