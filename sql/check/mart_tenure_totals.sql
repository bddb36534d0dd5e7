-- The hours of mart.assignment_tenure equal those of all approved timesheets that have hours and name a worker, and no part
-- of the hours after 12 weeks exceeds its total.
-- Severity: error
-- Sources: mart.assignment_tenure, star.fact_timesheet
-- Next: look for assignments that are stored twice: their timesheets count twice; the previous rows stay until the check passes
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
union all
select x.worker_id || '|' || x.company_id || '|' || x.trade_id as record
from mart.assignment_tenure as x
where x.awr_hours_after > x.net_hours or x.awr_compared_hours > x.awr_hours_after
  or x.awr_underpaid_hours > x.awr_compared_hours or (x.awr_underpaid_value > 0 and x.awr_underpaid_hours = 0)
