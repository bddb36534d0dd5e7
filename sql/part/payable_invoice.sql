-- Invoices that are owed to agencies: to the hiring company or to its provider, so that the provider's own bill does not count a
-- second time. Whether and when an invoice was paid is what mart.invoice_ledger says; a payment without a day counts on the day
-- of confirmation. A company whose invoices show no payment at all has is_payment_seen false.
payable_invoice as (
  select
    i.invoice_id,
    i.company_id,
    i.agency_id,
    cast(i.created_at at time zone 'Europe/London' as date) as issued_date,
    i.due_date,
    coalesce(i.final_total, 0) as payable_value,
    case
      when l.has_payment then coalesce(l.paid_on, cast(i.confirmed_at at time zone 'Europe/London' as date))
    end as paid_date,
    max(case when l.has_payment then 1 else 0 end) over (partition by i.company_id) = 1 as is_payment_seen
  from star.fact_invoice as i
  left join mart.invoice_ledger as l on l.invoice_id = i.invoice_id and l.document_type = 'invoice'
  where not i.is_deleted and coalesce(i.invoice_type, '') <> 'mspToClient' and i.created_at is not null
),
