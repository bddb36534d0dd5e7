-- The hours of mart.cost_code_spend, allocated or not, equal those of all approved timesheets.
-- Severity: error
-- Sources: mart.cost_code_spend, star.fact_timesheet
-- Next: run muster check allocated_hours first; the previous rows stay until the check passes
with
-- Include: approved_timesheet

select 'hours ' || cast(m.hours as text) || ' of ' || cast(s.hours as text) as record
from (select coalesce(sum(x.hours), 0) as hours from mart.cost_code_spend as x) as m
cross join (
  select coalesce(sum(t.net_hours), 0) as hours
  from approved_timesheet as t
) as s
where m.hours <> s.hours
