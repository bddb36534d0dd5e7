-- Weeks and projects in which changed timesheets and expenses are or were: `booked_week`. An expense is in the week of its
-- timesheet, else in one that ends within six days of its day.
moved_expense as (
  select e.timesheet_id, e.expense_date, e.company_id, e.project_id
  from star.fact_expense as e
  where e.expense_id in :changed(expenses) or e.timesheet_id in :changed(timesheets)
  union
  select h.timesheet_id, h.expense_date, h.company_id, h.project_id
  from history.fact_expense as h
  where h.expense_id in :changed(expenses)
),

moved_sheet as (
  select t.timesheet_id, t.week_ending_date, t.company_id, t.project_id
  from star.fact_timesheet as t
  where t.timesheet_id in :changed(timesheets) or t.timesheet_id in (select e.timesheet_id from moved_expense as e)
  union
  select h.timesheet_id, h.week_ending_date, h.company_id, h.project_id
  from history.fact_timesheet as h
  where h.timesheet_id in :changed(timesheets) or h.timesheet_id in (select e.timesheet_id from moved_expense as e)
),

booked_week as (
  select s.week_ending_date, s.company_id, s.project_id
  from moved_sheet as s
  union
  select s.week_ending_date, e.company_id, e.project_id
  from moved_expense as e
  inner join moved_sheet as s on s.timesheet_id = e.timesheet_id
  union
  select e.expense_date + cast(step.n as integer) as week_ending_date, e.company_id, e.project_id
  from moved_expense as e
  cross join generate_series(0, 6) as step (n)
)
