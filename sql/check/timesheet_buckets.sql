-- The pay and the charge of a timesheet are the sums of their ten buckets.
-- Severity: error
-- Sources: star.fact_timesheet
-- Next: look the timesheet up in the service; if it shows the same, report the sums to it, else run muster replay
select t.timesheet_id as record
from star.fact_timesheet as t
where not t.is_deleted and (
  abs(t.pay_total - (
    coalesce(t.pay_wd_basic, 0) + coalesce(t.pay_wd_overtime, 0) + coalesce(t.pay_wd_nightwork, 0)
    + coalesce(t.pay_we_nightwork, 0) + coalesce(t.pay_bank_holiday, 0) + coalesce(t.pay_bank_holiday_night, 0)
    + coalesce(t.pay_saturday, 0) + coalesce(t.pay_sunday, 0) + coalesce(t.pay_saturday_nightwork, 0)
    + coalesce(t.pay_sunday_nightwork, 0))) > 0.05
  or abs(t.charge_total - (
    coalesce(t.charge_wd_basic, 0) + coalesce(t.charge_wd_overtime, 0) + coalesce(t.charge_wd_nightwork, 0)
    + coalesce(t.charge_we_nightwork, 0) + coalesce(t.charge_bank_holiday, 0) + coalesce(t.charge_bank_holiday_night, 0)
    + coalesce(t.charge_saturday, 0) + coalesce(t.charge_sunday, 0) + coalesce(t.charge_saturday_nightwork, 0)
    + coalesce(t.charge_sunday_nightwork, 0))) > 0.05)
