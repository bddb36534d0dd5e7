-- Spend of mart.spend_concentration is that of all approved timesheets, and no part of it is greater than the whole.
-- Severity: error
-- Sources: mart.spend_concentration, star.fact_timesheet
-- Next: look for doubled assignments, which double their timesheets; yesterday's rows stay until the check passes
with
-- Include: approved_timesheet

select 'spend ' || cast(m.spend as text) || ' of ' || cast(s.spend as text) as record
from (select coalesce(sum(x.spend), 0) as spend from mart.spend_concentration as x) as m
cross join (select coalesce(sum(t.charge_total), 0) as spend from approved_timesheet as t) as s
where m.spend <> s.spend
union all
select x.company_id || ' ' || cast(x.month_start_date as text) as record
from mart.spend_concentration as x
where x.managed_spend > x.requisition_spend or x.requisition_spend > x.spend or x.largest_agency_spend > x.three_largest_spend
  or x.three_largest_spend > x.agency_spend
