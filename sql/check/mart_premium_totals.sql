-- Pay and charge of mart.overtime_uplift equal those of all approved timesheets, as in mart.labour_spend_weekly, piece work included.
-- Severity: error
-- Sources: mart.overtime_uplift, star.fact_timesheet
-- Next: check that star.dim_hour_type has each value bucket once; the previous rows stay until the check passes
select 'pay ' || cast(m.pay as text) || ' of ' || cast(s.pay as text) || ', charge ' || cast(m.charge as text) || ' of ' || cast(s.charge as text) as record
from (
  select coalesce(sum(x.pay_value), 0) as pay, coalesce(sum(x.charge_value), 0) as charge
  from mart.overtime_uplift as x
) as m
cross join (
  select coalesce(sum(t.pay_total), 0) as pay, coalesce(sum(t.charge_total), 0) as charge
  from star.fact_timesheet as t
  where not t.is_deleted and t.status = 'approved' and t.week_ending_date is not null
) as s
where m.pay <> s.pay or m.charge <> s.charge
