-- Pay and charge of mart.overtime_uplift are those of the ten kinds of value on all approved timesheets.
-- Severity: error
-- Sources: mart.overtime_uplift, star.fact_timesheet
-- Next: check that star.dim_hour_type has each value bucket once; yesterday's rows stay until the check passes
select 'pay ' || cast(m.pay as text) || ' of ' || cast(s.pay as text) || ', charge ' || cast(m.charge as text) || ' of ' || cast(s.charge as text) as record
from (
  select coalesce(sum(x.pay_value), 0) as pay, coalesce(sum(x.charge_value), 0) as charge
  from mart.overtime_uplift as x
) as m
cross join (
  select
    coalesce(sum(
      coalesce(t.pay_wd_basic, 0) + coalesce(t.pay_wd_overtime, 0) + coalesce(t.pay_wd_nightwork, 0)
      + coalesce(t.pay_we_nightwork, 0) + coalesce(t.pay_bank_holiday, 0) + coalesce(t.pay_bank_holiday_night, 0)
      + coalesce(t.pay_saturday, 0) + coalesce(t.pay_sunday, 0) + coalesce(t.pay_saturday_nightwork, 0)
      + coalesce(t.pay_sunday_nightwork, 0)), 0) as pay,
    coalesce(sum(
      coalesce(t.charge_wd_basic, 0) + coalesce(t.charge_wd_overtime, 0) + coalesce(t.charge_wd_nightwork, 0)
      + coalesce(t.charge_we_nightwork, 0) + coalesce(t.charge_bank_holiday, 0) + coalesce(t.charge_bank_holiday_night, 0)
      + coalesce(t.charge_saturday, 0) + coalesce(t.charge_sunday, 0) + coalesce(t.charge_saturday_nightwork, 0)
      + coalesce(t.charge_sunday_nightwork, 0)), 0) as charge
  from star.fact_timesheet as t
  where not t.is_deleted and t.status = 'approved' and t.week_ending_date is not null
) as s
where m.pay <> s.pay or m.charge <> s.charge
