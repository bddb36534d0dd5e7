-- Invoices and, as negative rows, credit notes: amounts charged, amounts still open, and when they are due.
-- Grain: one row per invoice or credit note.
-- Question: What is owed, and when?
-- Assumption: an invoice is open until its state is confirmed, a credit note until it is processed: the service shows no other
-- sign of payment. A credit note is due with its invoice. An invoice gives the sum of its credit notes before VAT. In a managed
-- company the agency bills the provider, which bills the company: the company owes the rows without is_billed_to_msp, and all
-- rows together count the amount twice.
-- Sources: star.fact_invoice, star.fact_credit_note
-- Columns:
--   document_key text key: Kind of document and its id.
--   document_type text: Kind of document: invoice or credit_note.
--   invoice_id text: The invoice, or the invoice that the credit note is for.
--   credit_note_id text: The credit note; empty for invoices.
--   reference text: Reference of the document.
--   status text: State of the document.
--   invoice_type text: Between whom.
--   company_id text: The hiring company; '-1' when the record names none.
--   agency_id text: The agency; '-1' when the record names none.
--   msp_id text: The managed service provider; '-1' when the record names none.
--   is_billed_to_msp boolean: Whether it is the agency's bill to the managed service provider, or a credit note for one.
--   week_ending_date date: Last day of the week it covers.
--   due_date date: Day when payment is due.
--   confirmed_at timestamptz: When it was confirmed or paid.
--   is_outstanding boolean: Whether it is still open.
--   days_overdue integer: Days since the due date of an open document, 0 before; empty when it is settled or has no due date.
--   due_bucket text: How long it is overdue: current, 1-30, 31-60, 61-90 or 90+ days overdue; settled; no due date.
--   subtotal_value numeric(18,4): Before VAT; negative for credit notes.
--   vat_value numeric(18,4): VAT; negative for credit notes.
--   total_value numeric(18,4): With VAT; negative for credit notes.
--   cis_value numeric(18,4): Construction Industry Scheme deduction; negative for credit notes.
--   final_value numeric(18,4): After deductions; negative for credit notes.
--   outstanding_value numeric(18,4): Amount that is open: final_value while the document is open, else 0.
--   expense_value numeric(18,4): Expenses on the invoice; 0 for credit notes.
--   invoice_net_value numeric(18,4): Net value as the invoice itself gives it, after its credit notes; empty for credit notes.
--   credit_notes_value numeric(18,4): Sum of its credit notes as the invoice gives it; empty for credit notes.
--   credit_notes_held_value numeric(18,4): Sum of its stored credit notes before VAT; empty for credit notes.
--   credit_notes_gap_value numeric(18,4): Credit notes not discovered yet: credit_notes_value less credit_notes_held_value; empty for credit notes.
with stored as (
  select c.invoice_id, sum(coalesce(c.subtotal, 0)) as credited
  from star.fact_credit_note as c
  where not c.is_deleted and c.invoice_id is not null
  group by c.invoice_id
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
    i.company_id,
    i.agency_id,
    i.msp_id,
    coalesce(i.invoice_type, '') = 'supplierToMsp' as is_billed_to_msp,
    i.week_ending_date,
    i.due_date,
    i.confirmed_at,
    coalesce(i.status, '') <> 'confirmed' as is_outstanding,
    i.subtotal as subtotal_value,
    i.vat as vat_value,
    i.total as total_value,
    i.cis as cis_value,
    i.final_total as final_value,
    coalesce(i.expenses, 0) as expense_value,
    i.net_value as invoice_net_value,
    coalesce(i.credit_notes, 0) as credit_notes_value,
    coalesce(stored.credited, 0) as credit_notes_held_value
  from star.fact_invoice as i
  left join stored on stored.invoice_id = i.invoice_id
  where not i.is_deleted
  union all
  select
    'credit_note|' || c.credit_note_id as document_key,
    'credit_note' as document_type,
    c.invoice_id,
    c.credit_note_id,
    c.reference,
    c.status,
    c.credit_note_type as invoice_type,
    c.company_id,
    c.agency_id,
    c.msp_id,
    coalesce(c.credit_note_type, i.invoice_type, '') = 'supplierToMsp' as is_billed_to_msp,
    c.week_ending_date,
    i.due_date,
    c.confirmed_at,
    coalesce(c.status, '') <> 'processed' as is_outstanding,
    -c.subtotal as subtotal_value,
    -c.vat as vat_value,
    -c.total as total_value,
    -c.cis as cis_value,
    -c.final_total as final_value,
    cast(0 as numeric(18, 4)) as expense_value,
    cast(null as numeric(18, 4)) as invoice_net_value,
    cast(null as numeric(18, 4)) as credit_notes_value,
    cast(null as numeric(18, 4)) as credit_notes_held_value
  from star.fact_credit_note as c
  left join star.fact_invoice as i on i.invoice_id = c.invoice_id and not i.is_deleted
  where not c.is_deleted
)

select
  d.document_key,
  d.document_type,
  d.invoice_id,
  d.credit_note_id,
  d.reference,
  d.status,
  d.invoice_type,
  d.company_id,
  d.agency_id,
  d.msp_id,
  d.is_billed_to_msp,
  d.week_ending_date,
  d.due_date,
  d.confirmed_at,
  d.is_outstanding,
  case
    when not d.is_outstanding or d.due_date is null then null
    when d.due_date >= :today then 0
    else cast(:today - d.due_date as integer)
  end as days_overdue,
  case
    when not d.is_outstanding then 'settled'
    when d.due_date is null then 'no due date'
    when d.due_date >= :today then 'current'
    when :today - d.due_date <= 30 then '1-30'
    when :today - d.due_date <= 60 then '31-60'
    when :today - d.due_date <= 90 then '61-90'
    else '90+'
  end as due_bucket,
  d.subtotal_value,
  d.vat_value,
  d.total_value,
  d.cis_value,
  d.final_value,
  case when d.is_outstanding then coalesce(d.final_value, 0) else 0 end as outstanding_value,
  d.expense_value,
  d.invoice_net_value,
  d.credit_notes_value,
  d.credit_notes_held_value,
  d.credit_notes_value - d.credit_notes_held_value as credit_notes_gap_value
from document as d
