-- mart.expense_summary counts every claim of star.fact_expense that has a date, and adds up the approved ones.
-- Severity: error
-- Sources: mart.expense_summary, star.fact_expense, star.fact_timesheet
-- Next: look for timesheets or companies that are stored twice; the previous rows stay until the check passes
select cast(m.claims as text) || ' of ' || cast(s.claims as text) || ' claims, ' || cast(m.approved as text) || ' of ' || cast(s.approved as text) as record
from (
  select coalesce(sum(x.claims), 0) as claims, coalesce(sum(x.approved_value), 0) as approved from mart.expense_summary as x
) as m
cross join (
  select count(*) as claims, coalesce(sum(case when e.status = 'approved' then e.value end), 0) as approved
  from star.fact_expense as e
  left join star.fact_timesheet as t on t.timesheet_id = e.timesheet_id and not t.is_deleted
  where not e.is_deleted and (e.expense_date is not null or t.week_ending_date is not null)
) as s
where m.claims <> s.claims or m.approved <> s.approved
