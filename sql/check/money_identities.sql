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
  select 'invoice total = subtotal + vat' as identity, 'star.fact_invoice' as subject, i.invoice_id as record, i.total - (i.subtotal + i.vat) as gap
  from star.fact_invoice as i
  where not i.is_deleted
  union all
  select 'invoice final total = total - cis' as identity, 'star.fact_invoice' as subject, i.invoice_id as record, i.final_total - (i.total - i.cis) as gap
  from star.fact_invoice as i
  where not i.is_deleted
  union all
  select 'invoice net value = subtotal + expenses - credit notes' as identity, 'star.fact_invoice' as subject, i.invoice_id as record, i.net_value - (i.subtotal + i.expenses - i.credit_notes) as gap
  from star.fact_invoice as i
  where not i.is_deleted
  union all
  select 'credit note total = subtotal + vat' as identity, 'star.fact_credit_note' as subject, c.credit_note_id as record, c.total - (c.subtotal + c.vat) as gap
  from star.fact_credit_note as c
  where not c.is_deleted
  union all
  select 'credit note final total = total - cis' as identity, 'star.fact_credit_note' as subject, c.credit_note_id as record, c.final_total - (c.total - c.cis) as gap
  from star.fact_credit_note as c
  where not c.is_deleted
  union all
  select 'timelog pay = standard + overtime' as identity, 'star.fact_timelog' as subject, l.timelog_id as record, l.pay_total_value - (l.pay_standard_value + l.pay_overtime_value) as gap
  from star.fact_timelog as l
  where not l.is_deleted
  union all
  select 'timelog charge = standard + overtime' as identity, 'star.fact_timelog' as subject, l.timelog_id as record, l.charge_total_value - (l.charge_standard_value + l.charge_overtime_value) as gap
  from star.fact_timelog as l
  where not l.is_deleted
  union all
  select 'timelog charge = pay + employer cost + margin' as identity, 'star.fact_timelog' as subject, l.timelog_id as record, l.charge_total_value - (l.pay_total_value + l.emp_total_value + l.margin_total_value) as gap
  from star.fact_timelog as l
  where not l.is_deleted
  union all
  select 'piece-rate charge = pay + employer cost + margin' as identity, 'star.fact_piece_rate_entry' as subject, p.piece_rate_entry_id as record, p.total_charge_value - (p.total_pay_value + p.total_emp_value + p.total_margin_value) as gap
  from star.fact_piece_rate_entry as p
  where not p.is_deleted
  union all
  select 'rate charge = pay + employer cost + margin' as identity, 'star.fact_rate' as subject, r.rate_key as record, r.charge - (r.pay + r.emp + r.margin) as gap
  from star.fact_rate as r
  where not r.is_deleted
  union all
  select 'timesheet pay without piece work = buckets' as identity, 'star.fact_timesheet' as subject, w.timesheet_id as record, w.pay_total - w.buckets as gap
  from piece_work as w
  union all
  select 'timesheet pay with piece work = buckets + piece work' as identity, 'star.fact_timesheet' as subject, w.timesheet_id as record, w.pay_total - w.buckets - w.piece_pay as gap
  from piece_work as w
),

learned as (
  select amount.identity
  from amount
  group by amount.identity
  having count(amount.gap) >= 20 and count(*) filter (where abs(amount.gap) <= 0.05) >= 0.95 * count(amount.gap)
)

select amount.record || ', ' || amount.identity as record, amount.subject
from amount
inner join learned on learned.identity = amount.identity
where abs(amount.gap) > 0.05
