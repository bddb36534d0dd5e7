-- The hours of mart.assignment_tenure are those of all approved timesheets that have hours and name a worker.
-- Severity: error
-- Sources: mart.assignment_tenure, star.fact_timesheet
-- Next: look for doubled assignments, which double their timesheets; yesterday's rows stay until the check passes
with
-- Include: approved_timesheet

select 'hours ' || cast(m.hours as text) || ' of ' || cast(s.hours as text) as record
from (select coalesce(sum(x.net_hours), 0) as hours from mart.assignment_tenure as x) as m
cross join (
  select coalesce(sum(t.net_hours), 0) as hours
  from approved_timesheet as t
  where t.worker_id <> '-1' and t.net_hours > 0
) as s
where m.hours <> s.hours
