-- Matches invoices with their stored credit notes, and finds which amounts of the notes an invoice adds up. The contract
-- leaves it open: an invoice whose sum fits exactly one amount shows its basis; the others get the most common basis.
credited as (
  select
    c.invoice_id,
    count(*) as notes,
    sum(coalesce(c.subtotal, 0)) as before_vat,
    sum(coalesce(c.total, 0)) as with_vat,
    sum(coalesce(c.final_total, 0)) as after_deductions
  from star.fact_credit_note as c
  where not c.is_deleted and c.invoice_id is not null
  group by c.invoice_id
),

credited_invoice as (
  select
    i.invoice_id,
    coalesce(i.credit_notes, 0) as given,
    coalesce(c.before_vat, 0) as before_vat,
    coalesce(c.with_vat, 0) as with_vat,
    coalesce(c.after_deductions, 0) as after_deductions,
    case
      when c.notes is null then null
      when abs(coalesce(i.credit_notes, 0) - c.before_vat) <= 0.05 then
        case when abs(c.with_vat - c.before_vat) > 0.05 or abs(c.after_deductions - c.before_vat) > 0.05 then 'before VAT' end
      when abs(coalesce(i.credit_notes, 0) - c.with_vat) <= 0.05 then 'with VAT'
      when abs(coalesce(i.credit_notes, 0) - c.after_deductions) <= 0.05 then 'after deductions'
    end as told
  from star.fact_invoice as i
  left join credited as c on c.invoice_id = i.invoice_id
  where not i.is_deleted
),

credit_basis as (
  select max(b.told) as usual
  from (
    select x.told, row_number() over (order by count(*) desc, x.told) as place
    from credited_invoice as x
    where x.told is not null
    group by x.told
  ) as b
  where b.place = 1
),

credited_by_basis as (
  select
    x.invoice_id,
    x.given,
    coalesce(x.told, b.usual, 'not known') as basis,
    case coalesce(x.told, b.usual)
      when 'with VAT' then x.with_vat
      when 'after deductions' then x.after_deductions
      else x.before_vat
    end as held
  from credited_invoice as x
  cross join credit_basis as b
),
