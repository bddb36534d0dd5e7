-- The hours of mart.headcount_weekly equal those of all approved timesheets, and its pending hours those of all waiting ones.
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
union all
select 'pending hours ' || cast(m.hours as text) || ' of ' || cast(s.hours as text) as record
from (select coalesce(sum(x.pending_hours), 0) as hours from mart.headcount_weekly as x) as m
cross join (
  select coalesce(sum(t.net_hours), 0) as hours
  from star.fact_timesheet as t
  where not t.is_deleted and t.status in ('pending', 'pending_approval') and t.week_ending_date is not null
) as s
where m.hours <> s.hours
