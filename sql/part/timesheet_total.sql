-- Finds what the totals of timesheets include, which the contract leaves open: ten buckets, with or without piece work and
-- expenses. `total_basis` names the sum that fits the timesheets of each company. Without piece work and expenses all sums
-- are equal, and it says buckets.
piece_work as (
  select e.timesheet_id, sum(coalesce(e.total_pay_value, 0)) as pay, sum(coalesce(e.total_charge_value, 0)) as charge
  from star.fact_piece_rate_entry as e
  where not e.is_deleted
  group by e.timesheet_id
),

total_rest as (
  select
    t.timesheet_id, t.company_id, coalesce(t.expense_value, 0) as expense, coalesce(p.pay, 0) as piece_pay,
    coalesce(p.charge, 0) as piece_charge,
    t.pay_total - (
      coalesce(t.pay_wd_basic, 0) + coalesce(t.pay_wd_overtime, 0) + coalesce(t.pay_wd_nightwork, 0)
      + coalesce(t.pay_we_nightwork, 0) + coalesce(t.pay_bank_holiday, 0) + coalesce(t.pay_bank_holiday_night, 0)
      + coalesce(t.pay_saturday, 0) + coalesce(t.pay_sunday, 0)
      + coalesce(t.pay_saturday_nightwork, 0) + coalesce(t.pay_sunday_nightwork, 0)
    ) as pay,
    t.charge_total - (
      coalesce(t.charge_wd_basic, 0) + coalesce(t.charge_wd_overtime, 0) + coalesce(t.charge_wd_nightwork, 0)
      + coalesce(t.charge_we_nightwork, 0) + coalesce(t.charge_bank_holiday, 0) + coalesce(t.charge_bank_holiday_night, 0)
      + coalesce(t.charge_saturday, 0) + coalesce(t.charge_sunday, 0)
      + coalesce(t.charge_saturday_nightwork, 0) + coalesce(t.charge_sunday_nightwork, 0)
    ) as charge
  from star.fact_timesheet as t
  left join piece_work as p on p.timesheet_id = t.timesheet_id
  where not t.is_deleted
),

-- A missing total rules out no sum.
total_fit as (
  select
    r.timesheet_id, r.company_id,
    r.piece_pay <> 0 or r.piece_charge <> 0 or r.expense <> 0 as tells,
    coalesce(abs(r.pay) <= 0.05, true) and coalesce(abs(r.charge) <= 0.05, true) as is_buckets,
    coalesce(abs(r.pay - r.piece_pay) <= 0.05, true) and coalesce(abs(r.charge - r.piece_charge) <= 0.05, true) as is_pieces,
    coalesce(abs(r.pay - r.expense) <= 0.05, true) and coalesce(abs(r.charge - r.expense) <= 0.05, true) as is_expenses,
    coalesce(abs(r.pay - r.piece_pay - r.expense) <= 0.05, true)
      and coalesce(abs(r.charge - r.piece_charge - r.expense) <= 0.05, true) as is_both
  from total_rest as r
),

total_kept as (
  select
    f.company_id,
    count(case when f.tells and f.is_buckets then 1 end) as buckets,
    count(case when f.tells and f.is_pieces then 1 end) as pieces,
    count(case when f.tells and f.is_expenses then 1 end) as expenses,
    count(case when f.tells and f.is_both then 1 end) as both_of_them
  from total_fit as f
  group by f.company_id
),

total_basis as (
  select
    k.company_id,
    case
      when k.buckets >= greatest(k.pieces, k.expenses, k.both_of_them) then 'buckets'
      when k.pieces >= greatest(k.expenses, k.both_of_them) then 'buckets and pieces'
      when k.expenses >= k.both_of_them then 'buckets and expenses'
      else 'buckets, pieces and expenses'
    end as total_basis
  from total_kept as k
),
