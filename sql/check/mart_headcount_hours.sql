-- The hours of mart.headcount_weekly equal those of all approved timesheets.
-- Severity: error
-- Sources: mart.headcount_weekly, star.fact_timesheet
-- Next: look for assignments that are stored twice: their timesheets count twice; the previous rows stay until the check passes
with
-- Include: approved_timesheet

select 'hours ' || cast(m.hours as text) || ' of ' || cast(s.hours as text) as record
from (select coalesce(sum(x.net_hours), 0) as hours from mart.headcount_weekly as x) as m
cross join (
  select coalesce(sum(t.net_hours), 0) as hours
  from approved_timesheet as t
) as s
where m.hours <> s.hours
