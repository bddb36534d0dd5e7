-- Amounts add up: an identity that holds for 95% of at least 20 records must hold for all.
-- Severity: warn
-- Sources: star.fact_invoice, star.fact_credit_note, star.fact_timesheet, star.fact_timelog, star.fact_piece_rate_entry, star.fact_rate
-- Next: read the record with muster get and report it to the service; the contract states none of these identities: they
-- are learned from the data
with
-- Piece work of a timesheet; the total of a timesheet may include it.
piece_work as (
  select
    t.timesheet_id, t.pay_total, e.piece_pay,
    coalesce(t.pay_wd_basic, 0) + coalesce(t.pay_wd_overtime, 0) + coalesce(t.pay_wd_nightwork, 0)
    + coalesce(t.pay_we_nightwork, 0) + coalesce(t.pay_bank_holiday, 0) + coalesce(t.pay_bank_holiday_night, 0)
    + coalesce(t.pay_saturday, 0) + coalesce(t.pay_sunday, 0) + coalesce(t.pay_saturday_nightwork, 0)
    + coalesce(t.pay_sunday_nightwork, 0) as buckets
  from star.fact_timesheet as t
  inner join (
    select p.timesheet_id, sum(p.total_pay_value) as piece_pay
    from star.fact_piece_rate_entry as p
    where not p.is_deleted
    group by p.timesheet_id
  ) as e on e.timesheet_id = t.timesheet_id
  where not t.is_deleted and abs(e.piece_pay) > 0.05
),

amount as (
  select 'invoice total = subtotal + vat' as identity, 'star.fact_invoice' as subject, i.invoice_id as record, abs(i.total - (i.subtotal + i.vat)) > 0.05 as is_off
  from star.fact_invoice as i
  where not i.is_deleted and (i.total - (i.subtotal + i.vat)) is not null
  union all
  select 'invoice final total = total - cis' as identity, 'star.fact_invoice' as subject, i.invoice_id as record, abs(i.final_total - (i.total - i.cis)) > 0.05 as is_off
  from star.fact_invoice as i
  where not i.is_deleted and (i.final_total - (i.total - i.cis)) is not null
  union all
  select 'invoice net value = subtotal + expenses - credit notes' as identity, 'star.fact_invoice' as subject, i.invoice_id as record, abs(i.net_value - (i.subtotal + i.expenses - i.credit_notes)) > 0.05 as is_off
  from star.fact_invoice as i
  where not i.is_deleted and (i.net_value - (i.subtotal + i.expenses - i.credit_notes)) is not null
  union all
  select 'credit note total = subtotal + vat' as identity, 'star.fact_credit_note' as subject, c.credit_note_id as record, abs(c.total - (c.subtotal + c.vat)) > 0.05 as is_off
  from star.fact_credit_note as c
  where not c.is_deleted and (c.total - (c.subtotal + c.vat)) is not null
  union all
  select 'credit note final total = total - cis' as identity, 'star.fact_credit_note' as subject, c.credit_note_id as record, abs(c.final_total - (c.total - c.cis)) > 0.05 as is_off
  from star.fact_credit_note as c
  where not c.is_deleted and (c.final_total - (c.total - c.cis)) is not null
  union all
  select 'timelog pay = standard + overtime' as identity, 'star.fact_timelog' as subject, l.timelog_id as record, abs(l.pay_total_value - (l.pay_standard_value + l.pay_overtime_value)) > 0.05 as is_off
  from star.fact_timelog as l
  where not l.is_deleted and (l.pay_total_value - (l.pay_standard_value + l.pay_overtime_value)) is not null
  union all
  select 'timelog charge = standard + overtime' as identity, 'star.fact_timelog' as subject, l.timelog_id as record, abs(l.charge_total_value - (l.charge_standard_value + l.charge_overtime_value)) > 0.05 as is_off
  from star.fact_timelog as l
  where not l.is_deleted and (l.charge_total_value - (l.charge_standard_value + l.charge_overtime_value)) is not null
  union all
  select 'timelog charge = pay + employer cost + margin' as identity, 'star.fact_timelog' as subject, l.timelog_id as record, abs(l.charge_total_value - (l.pay_total_value + l.emp_total_value + l.margin_total_value)) > 0.05 as is_off
  from star.fact_timelog as l
  where not l.is_deleted and (l.charge_total_value - (l.pay_total_value + l.emp_total_value + l.margin_total_value)) is not null
  union all
  select 'piece-rate charge = pay + employer cost + margin' as identity, 'star.fact_piece_rate_entry' as subject, p.piece_rate_entry_id as record, abs(p.total_charge_value - (p.total_pay_value + p.total_emp_value + p.total_margin_value)) > 0.05 as is_off
  from star.fact_piece_rate_entry as p
  where not p.is_deleted and (p.total_charge_value - (p.total_pay_value + p.total_emp_value + p.total_margin_value)) is not null
  union all
  select 'rate charge = pay + employer cost + margin' as identity, 'star.fact_rate' as subject, r.rate_key as record, abs(r.charge - (r.pay + r.emp + r.margin)) > 0.05 as is_off
  from star.fact_rate as r
  where not r.is_deleted and (r.charge - (r.pay + r.emp + r.margin)) is not null
  union all
  select 'timesheet pay without piece work = buckets' as identity, 'star.fact_timesheet' as subject, w.timesheet_id as record, abs(w.pay_total - w.buckets) > 0.05 as is_off
  from piece_work as w
  where w.pay_total is not null
  union all
  select 'timesheet pay with piece work = buckets + piece work' as identity, 'star.fact_timesheet' as subject, w.timesheet_id as record, abs(w.pay_total - w.buckets - w.piece_pay) > 0.05 as is_off
  from piece_work as w
  where w.pay_total is not null
),

learned as (
  select amount.identity
  from amount
  group by amount.identity
  having count(*) >= 20 and sum(case when amount.is_off then 0 else 1 end) >= 0.95 * count(*)
)

select amount.record || ', ' || amount.identity as record, amount.subject
from amount
inner join learned on learned.identity = amount.identity
where amount.is_off
