-- Hours and charge of mart.rate_card_coverage equal those of all approved timesheets.
-- Severity: error
-- Sources: mart.rate_card_coverage, star.fact_timesheet
-- Next: run muster build rate_compliance first, then look for an assignment that is stored twice; the previous rows stay until the check passes
with
-- Include: approved_timesheet

select 'hours ' || cast(m.hours as text) || ' of ' || cast(s.hours as text) || ', charge ' || cast(m.charge as text) || ' of ' || cast(s.charge as text) as record
from (
  select coalesce(sum(x.net_hours), 0) as hours, coalesce(sum(x.charge_value), 0) as charge
  from mart.rate_card_coverage as x
) as m
cross join (
  select coalesce(sum(t.net_hours), 0) as hours, coalesce(sum(t.charge_total), 0) as charge
  from approved_timesheet as t
) as s
where m.hours <> s.hours or m.charge <> s.charge
