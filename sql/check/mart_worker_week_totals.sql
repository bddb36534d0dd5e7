-- The hours of mart.worker_week equal those of all approved timesheets that name a worker, and night shifts and
-- short rests agree with their hours.
-- Severity: error
-- Sources: mart.worker_week, star.fact_timesheet
-- Next: look for a worker and week that the mart has twice; the previous rows stay until the check passes
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
union all
select x.worker_id || '|' || cast(x.week_ending_date as text) as record
from mart.worker_week as x
-- Hours are rounded to four decimals, the counts are of the exact times.
where x.night_shifts * 3 > x.night_hours + 0.001
  or (x.short_rests > 0 and coalesce(x.shortest_rest_hours, 12) > 11.0001)
  or (x.short_rests = 0 and x.shortest_rest_hours < 10.9999)
