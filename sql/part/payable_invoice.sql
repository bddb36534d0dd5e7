-- Invoices that are owed to agencies: to the hiring company or to its provider, so that the provider's own bill does not count a
-- second time. The day of payment is the one that the payment gives, else the day of confirmation: the contract does not show
-- the fields of a payment. A company whose invoices show no payment at all has is_payment_seen false.
payable_invoice as (
  select
    i.invoice_id,
    i.company_id,
    i.agency_id,
    cast(i.created_at at time zone 'Europe/London' as date) as issued_date,
    i.due_date,
    coalesce(i.final_total, 0) as payable_value,
    case
      when i.payment_json is null then null
      when cast(i.payment_json as json) ->> 'paymentDate' ~ '^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([^0-9].*)?$'
        then cast(substr(cast(i.payment_json as json) ->> 'paymentDate', 1, 10) as date)
      else cast(i.confirmed_at at time zone 'Europe/London' as date)
    end as paid_date,
    count(i.payment_json) over (partition by i.company_id) > 0 as is_payment_seen
  from star.fact_invoice as i
  where not i.is_deleted and coalesce(i.invoice_type, '') <> 'mspToClient' and i.created_at is not null
),
