-- The pay and the charge of a timesheet are the sums of their ten buckets, with or without its piece work and its expense, which the contract leaves open.
-- Severity: error
-- Sources: star.fact_timesheet, star.fact_piece_rate_entry
-- Next: look the timesheet up in the service; if it shows the same, report the sums to it, else run muster replay
with piece_work as (
  select e.timesheet_id, sum(coalesce(e.total_pay_value, 0)) as pay, sum(coalesce(e.total_charge_value, 0)) as charge
  from star.fact_piece_rate_entry as e
  where not e.is_deleted
  group by e.timesheet_id
),

rest as (
  select
    t.timesheet_id, coalesce(t.expense_value, 0) as expense, coalesce(p.pay, 0) as piece_pay,
    coalesce(p.charge, 0) as piece_charge,
    t.pay_total - (
      coalesce(t.pay_wd_basic, 0) + coalesce(t.pay_wd_overtime, 0) + coalesce(t.pay_wd_nightwork, 0)
      + coalesce(t.pay_we_nightwork, 0) + coalesce(t.pay_bank_holiday, 0) + coalesce(t.pay_bank_holiday_night, 0)
      + coalesce(t.pay_saturday, 0) + coalesce(t.pay_sunday, 0) + coalesce(t.pay_saturday_nightwork, 0)
      + coalesce(t.pay_sunday_nightwork, 0)) as pay,
    t.charge_total - (
      coalesce(t.charge_wd_basic, 0) + coalesce(t.charge_wd_overtime, 0) + coalesce(t.charge_wd_nightwork, 0)
      + coalesce(t.charge_we_nightwork, 0) + coalesce(t.charge_bank_holiday, 0) + coalesce(t.charge_bank_holiday_night, 0)
      + coalesce(t.charge_saturday, 0) + coalesce(t.charge_sunday, 0) + coalesce(t.charge_saturday_nightwork, 0)
      + coalesce(t.charge_sunday_nightwork, 0)) as charge
  from star.fact_timesheet as t
  left join piece_work as p on p.timesheet_id = t.timesheet_id
  where not t.is_deleted
)

select r.timesheet_id as record
from rest as r
where least(abs(r.pay), abs(r.pay - r.piece_pay), abs(r.pay - r.expense), abs(r.pay - r.piece_pay - r.expense)) > 0.05
  or least(abs(r.charge), abs(r.charge - r.piece_charge), abs(r.charge - r.expense),
    abs(r.charge - r.piece_charge - r.expense)) > 0.05
