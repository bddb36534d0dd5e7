-- Hours and spend of mart.supplier_scorecard equal those of all approved timesheets.
-- Severity: error
-- Sources: mart.supplier_scorecard, star.fact_timesheet
-- Next: run muster build rate_compliance first, then look for an assignment that is stored twice; the previous rows stay until the check passes
with
-- Include: approved_timesheet

select 'hours ' || cast(m.hours as text) || ' of ' || cast(s.hours as text) || ', spend ' || cast(m.spend as text) || ' of ' || cast(s.spend as text) as record
from (
  select coalesce(sum(x.net_hours), 0) as hours, coalesce(sum(x.spend), 0) as spend
  from mart.supplier_scorecard as x
) as m
cross join (
  select coalesce(sum(t.net_hours), 0) as hours, coalesce(sum(t.charge_total), 0) as spend
  from approved_timesheet as t
) as s
where m.hours <> s.hours or m.spend <> s.spend
