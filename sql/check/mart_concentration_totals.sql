-- Spend of mart.spend_concentration equals that of all approved timesheets, and no part of it exceeds the total.
-- Severity: error
-- Sources: mart.spend_concentration, star.fact_timesheet
-- Next: look for assignments that are stored twice: their timesheets count twice; the previous rows stay until the check passes
with
-- Include: approved_timesheet

select 'spend ' || cast(m.spend as text) || ' of ' || cast(s.spend as text) as record
from (select coalesce(sum(x.spend), 0) as spend from mart.spend_concentration as x) as m
cross join (select coalesce(sum(t.charge_total), 0) as spend from approved_timesheet as t) as s
where m.spend <> s.spend
union all
select x.company_id || ' ' || cast(x.month_start_date as text) as record
from mart.spend_concentration as x
where x.largest_agency_spend > x.three_largest_spend or x.three_largest_spend > x.agency_spend
  -- A part exceeds its total where a correction has a negative charge.
  or (
    (x.managed_spend > x.requisition_spend or x.requisition_spend > x.spend)
    and not exists (select 1 from approved_timesheet as t where t.company_id = x.company_id and t.charge_total < 0)
  )
