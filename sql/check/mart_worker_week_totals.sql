-- The hours of mart.worker_week are those of all approved timesheets that name a worker.
-- Severity: error
-- Sources: mart.worker_week, star.fact_timesheet
-- Next: look for a worker and week that the mart has twice; yesterday's rows stay until the check passes
with
-- Include: approved_timesheet

select 'hours ' || cast(m.hours as text) || ' of ' || cast(s.hours as text) as record
from (select coalesce(sum(x.net_hours), 0) as hours from mart.worker_week as x) as m
cross join (
  select coalesce(sum(t.net_hours), 0) as hours
  from approved_timesheet as t
  where t.worker_id <> '-1'
) as s
where m.hours <> s.hours
