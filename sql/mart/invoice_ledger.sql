-- Invoices and, as negative rows, credit notes: amounts charged, amounts still open, and when they are due.
-- Grain: one row per invoice or credit note and perspective.
-- Question: What is owed, and when?
-- Assumption: an invoice is settled when the service shows a payment of it or an event reported one, a credit note when the
-- service shows its payment. Confirmed does not mean paid. Where the service shows no payment of any invoice, it is unknown
-- which confirmed ones are open: those have payment_seen false and no amounts. A credit note reduces the open amount of its
-- invoice until the invoice is settled. After that, or without its invoice, it is open until it is paid or, where no credit
-- note shows a payment, until it is processed. It is due with its invoice. In a managed company the agency bills the
-- provider, which bills the company: each perspective has an amount once, and all of them together count it several times.
-- Sources: star.fact_invoice, star.fact_credit_note, star.fact_webhook_event, star.dim_date
-- Measures: within perspective = client; average days_overdue, days_to_pay; sum subtotal_value, vat_value, total_value,
--   cis_value, final_value, outstanding_value, unpaid_value, expense_value, invoice_net_value, credit_notes_value,
--   stored_credit_notes_value, credit_notes_gap_value, creditable_value; ratio credit_note_ratio = credit_notes_value /
--   creditable_value
-- Columns:
--   document_key text key: Kind of document and its id.
--   perspective text key: Whose view the row belongs to: client (what hiring companies owe to agencies and providers),
--     provider (what managed service providers owe to agencies) or supplier (what agencies are owed by both). A document has
--     a row in each view that it belongs to.
--   document_type text: Kind of document: invoice or credit_note.
--   invoice_id text: The invoice, or the invoice that the credit note is for.
--   credit_note_id text: The credit note; empty for invoices.
--   reference text: Reference of the document.
--   status text: State of the document.
--   invoice_type text: Who bills whom, such as supplierToClient.
--   company_id text: The hiring company; '-1' when the record names none.
--   agency_id text: The agency; '-1' when the record names none.
--   msp_id text: The managed service provider; '-1' when the record names none.
--   is_billed_to_msp boolean: Whether it is the agency's bill to the managed service provider, or a credit note for one.
--   week_ending_date date: Last day of the week it covers.
--   due_date date: Day when payment is due.
--   confirmed_at timestamptz: When it was confirmed or, in the contract's words, paid.
--   is_confirmed boolean: Whether it is confirmed; for a credit note, whether it is processed.
--   payment_seen boolean: Whether the service shows payments of any document of this type.
--   has_payment boolean: Whether a payment of it is shown, or an event reported one; empty where the service shows no
--     payment of this type.
--   paid_on date: Day of the payment in the reporting zone, or of the event that reported it; empty when neither is
--     shown.
--   is_outstanding boolean: Whether it is still open; empty when unknown.
--   days_overdue integer: Days since the due date of an open document, 0 before; empty when it is settled or has no due date.
--   days_to_pay integer: Days from the end of its week to its payment; empty when either is unknown.
--   due_bucket text: How long it is overdue: current, 1-30, 31-60, 61-90 or 90+ days overdue; settled; no due date; not known.
--   subtotal_value numeric(18,4): Before VAT; negative for credit notes.
--   vat_value numeric(18,4): VAT; negative for credit notes.
--   total_value numeric(18,4): With VAT; negative for credit notes.
--   cis_value numeric(18,4): Construction Industry Scheme deduction; negative for credit notes.
--   final_value numeric(18,4): After deductions; negative for credit notes.
--   outstanding_value numeric(18,4): Amount that is open: final_value while the document is open, 0 when it is settled;
--     empty when unknown.
--   unpaid_value numeric(18,4): By payments alone: final_value while no payment of it is seen, else 0; empty where the
--     service shows no payment of this type.
--   expense_value numeric(18,4): Expenses on the invoice; 0 for credit notes.
--   invoice_net_value numeric(18,4): Net value as the invoice itself gives it, after its credit notes; empty for credit notes.
--   credit_notes_value numeric(18,4): Sum of its credit notes as the invoice gives it; empty for credit notes.
--   credit_notes_basis text: Which amounts of its credit notes the sum takes: before VAT, with VAT, or after deductions, as
--     this invoice or else most invoices show; not known when none shows it, and then before VAT is used; empty for credit
--     notes.
--   stored_credit_notes_value numeric(18,4): Sum of its stored credit notes on that basis; empty for credit notes.
--   credit_notes_gap_value numeric(18,4): Credit notes not discovered yet: credit_notes_value less stored_credit_notes_value; empty for credit notes.
--   creditable_value numeric(18,4): Amount of the invoice on the basis of credit_notes_value; empty for credit notes.
--   credit_note_ratio double precision: credit_notes_value / creditable_value; empty for credit notes.
--   cis_tax_month_start_date date: The 6th on which the UK tax month of the Construction Industry Scheme deduction began: the
--     month of the payment, else of the confirmation where a payment is shown without a day or is unknown; empty while it is
--     not paid. Tax months run from the 6th to the 5th: gov.uk/what-you-must-do-as-a-cis-contractor, November 2026; an
--     indicator, not the return.
with
-- Include: credited_invoice

-- Include: perspective

-- The contract does not describe the payment of an invoice; the day is read as in the payment of a credit note.
payment as (
  select i.invoice_id, cast(i.payment_json as json) ->> 'paymentDate' as paid_at
  from star.fact_invoice as i
  where not i.is_deleted and cast(i.payment_json as text) not in ('null', '{}', '[]', '""')
),

told as (
  select e.record_id as invoice_id, min(:day(e.created_at)) as day
  from star.fact_webhook_event as e
  where e.type = 'invoice_paid'
  group by e.record_id
),

invoice_payment as (
  select
    i.invoice_id,
    p.invoice_id is not null or t.invoice_id is not null as has_payment,
    case
      when d.date_day is null then t.day
      when substr(p.paid_at, 11)
        ~ '^[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])?$'
        then :day(cast(p.paid_at as timestamptz))
      else d.date_day
    end as paid_on
  from star.fact_invoice as i
  left join payment as p on p.invoice_id = i.invoice_id
  left join star.dim_date as d on cast(d.date_day as text) = substr(p.paid_at, 1, 10)
  left join told as t on t.invoice_id = i.invoice_id
  where not i.is_deleted
),

seen as (
  select
    exists (select 1 from invoice_payment as p where p.has_payment) as of_invoices,
    exists (
      select 1 from star.fact_credit_note as c
      where not c.is_deleted and (c.payment_date is not null or c.payment_reference is not null)
    ) as of_credit_notes
),

invoice as (
  select
    i.*,
    seen.of_invoices as payment_seen,
    case when seen.of_invoices then p.has_payment end as has_payment,
    p.paid_on,
    case
      when seen.of_invoices then not p.has_payment
      when coalesce(i.status, '') <> 'confirmed' then true
    end as is_open
  from star.fact_invoice as i
  inner join invoice_payment as p on p.invoice_id = i.invoice_id
  cross join seen
),

credit_note as (
  select
    c.*,
    i.due_date,
    i.invoice_type as billed_type,
    i.is_open as is_invoice_open,
    i.invoice_id is not null as has_invoice,
    seen.of_credit_notes as payment_seen,
    case when seen.of_credit_notes then c.payment_date is not null or c.payment_reference is not null end as has_payment
  from star.fact_credit_note as c
  left join invoice as i on i.invoice_id = c.invoice_id
  cross join seen
  where not c.is_deleted
),

document as (
  select
    'invoice|' || i.invoice_id as document_key,
    'invoice' as document_type,
    i.invoice_id,
    cast(null as text) as credit_note_id,
    i.reference,
    i.status,
    i.invoice_type,
    i.invoice_type as billed_type,
    i.company_id,
    i.agency_id,
    i.msp_id,
    i.week_ending_date,
    i.due_date,
    i.confirmed_at,
    coalesce(i.status, '') = 'confirmed' as is_confirmed,
    i.payment_seen,
    i.has_payment,
    i.paid_on,
    i.is_open as is_outstanding,
    i.subtotal as subtotal_value,
    i.vat as vat_value,
    i.total as total_value,
    i.cis as cis_value,
    i.final_total as final_value,
    coalesce(i.expenses, 0) as expense_value,
    i.net_value as invoice_net_value,
    coalesce(i.credit_notes, 0) as credit_notes_value,
    c.basis as credit_notes_basis,
    c.held as stored_credit_notes_value,
    case c.basis when 'with VAT' then i.total when 'after deductions' then i.final_total else i.subtotal end as creditable_value
  from invoice as i
  inner join credited_by_basis as c on c.invoice_id = i.invoice_id
  union all
  select
    'credit_note|' || c.credit_note_id as document_key,
    'credit_note' as document_type,
    c.invoice_id,
    c.credit_note_id,
    c.reference,
    c.status,
    c.credit_note_type as invoice_type,
    case
      when c.credit_note_type in ('supplierToClient', 'supplierToMsp', 'mspToClient') then c.credit_note_type
      else c.billed_type
    end as billed_type,
    c.company_id,
    c.agency_id,
    c.msp_id,
    c.week_ending_date,
    c.due_date,
    c.confirmed_at,
    coalesce(c.status, '') = 'processed' as is_confirmed,
    c.payment_seen,
    c.has_payment,
    c.payment_date as paid_on,
    case
      when c.has_payment then false
      when c.has_invoice and (c.is_invoice_open is null or c.is_invoice_open) then c.is_invoice_open
      when c.payment_seen then true
      else coalesce(c.status, '') <> 'processed'
    end as is_outstanding,
    -c.subtotal as subtotal_value,
    -c.vat as vat_value,
    -c.total as total_value,
    -c.cis as cis_value,
    -c.final_total as final_value,
    cast(0 as numeric(18, 4)) as expense_value,
    cast(null as numeric(18, 4)) as invoice_net_value,
    cast(null as numeric(18, 4)) as credit_notes_value,
    cast(null as text) as credit_notes_basis,
    cast(null as numeric(18, 4)) as stored_credit_notes_value,
    cast(null as numeric(18, 4)) as creditable_value
  from credit_note as c
)

select
  d.document_key,
  p.perspective,
  d.document_type,
  d.invoice_id,
  d.credit_note_id,
  d.reference,
  d.status,
  d.invoice_type,
  d.company_id,
  d.agency_id,
  d.msp_id,
  coalesce(d.billed_type, '') = 'supplierToMsp' as is_billed_to_msp,
  d.week_ending_date,
  d.due_date,
  d.confirmed_at,
  d.is_confirmed,
  d.payment_seen,
  d.has_payment,
  d.paid_on,
  d.is_outstanding,
  case
    when not d.is_outstanding or d.is_outstanding is null or d.due_date is null then null
    when d.due_date >= :today then 0
    else cast(:today - d.due_date as integer)
  end as days_overdue,
  cast(d.paid_on - d.week_ending_date as integer) as days_to_pay,
  case
    when d.is_outstanding is null then 'not known'
    when not d.is_outstanding then 'settled'
    when d.due_date is null then 'no due date'
    when d.due_date >= :today then 'current'
    when :days(:today, d.due_date) <= 30 then '1-30'
    when :days(:today, d.due_date) <= 60 then '31-60'
    when :days(:today, d.due_date) <= 90 then '61-90'
    else '90+'
  end as due_bucket,
  d.subtotal_value,
  d.vat_value,
  d.total_value,
  d.cis_value,
  d.final_value,
  case
    when d.is_outstanding then coalesce(d.final_value, 0)
    when not d.is_outstanding then 0
  end as outstanding_value,
  case
    when d.has_payment then 0
    when not d.has_payment then coalesce(d.final_value, 0)
  end as unpaid_value,
  d.expense_value,
  d.invoice_net_value,
  d.credit_notes_value,
  d.credit_notes_basis,
  d.stored_credit_notes_value,
  d.credit_notes_value - d.stored_credit_notes_value as credit_notes_gap_value,
  d.creditable_value,
  cast(d.credit_notes_value as double precision) / nullif(cast(d.creditable_value as double precision), 0)
    as credit_note_ratio,
  cast(date_trunc('month', coalesce(d.paid_on, case when coalesce(d.has_payment, true) then :day(d.confirmed_at) end) - 5) as date)
    + 5 as cis_tax_month_start_date
from document as d
inner join perspective as p
  on p.invoice_type = case when d.billed_type in ('supplierToMsp', 'mspToClient') then d.billed_type else 'supplierToClient' end
