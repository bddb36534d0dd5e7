-- What is owed at the end of each month, how old it is, and how long payment takes. Amounts are the final totals of
-- invoices: with VAT, after the deductions of the Construction Industry Scheme, without credit notes. An invoice is issued
-- on the day it was created, once it is confirmed or paid; pending ones are apart. The current month ends today. For a
-- company that shows no payment at all, open amounts are unknown and their columns are empty.
-- Grain: one row per perspective, company, agency and month.
-- Question: How much do we owe, how late are we, and how long do agencies wait for their money?
-- Assumption: an invoice is paid when mart.invoice_ledger has a payment of it; a payment without a day counts on the day of
-- confirmation. Whether an invoice is pending is its state now, in every month, as the service may confirm an invoice by its
-- payment: what is pending in a past month was never confirmed since.
-- Sources: mart.invoice_ledger, star.dim_date, star.fact_invoice
-- Measures: within perspective = client; sum issued_value, paid_value, paid_invoices, paid_late; last open_value,
--   pending_value, not_due_value, overdue_1_to_30_value, overdue_31_to_60_value, overdue_61_to_90_value,
--   overdue_over_90_value, issued_90_days_value; average avg_days_to_pay by paid_invoices; ratio dso_days = 90 *
--   open_value / issued_90_days_value
-- Columns:
--   perspective text key: Whose view the row belongs to: client (what hiring companies owe to agencies and providers),
--     provider (what managed service providers owe to agencies) or supplier (what agencies are owed by both).
--   company_id text key: The hiring company; '-1' when the record names none.
--   agency_id text key: The agency; '-1' when the record names none.
--   month_start_date date key: First day of the month, from the first invoice on.
--   month_end_date date: Last day of the month; today in the current one.
--   is_payment_seen boolean: Whether any invoice of the company in this perspective shows a payment.
--   issued_value numeric(18,4): Invoices issued in the month: created in it, and confirmed or paid by now; without pending ones.
--   pending_value numeric(18,4): Invoices created by the end of the month that are still pending; in no other amount.
--   paid_value numeric(18,4): Invoices paid in the month; one paid before it was issued counts in the month of issue.
--   paid_invoices integer: Invoices paid in the month, as a count; the denominator of avg_days_to_pay.
--   paid_late integer: Invoices paid in the month, after they were due.
--   avg_days_to_pay double precision: Days from issue to payment of the invoices paid in the month; both are days of the
--     reporting zone.
--   open_value numeric(18,4): Invoices issued but not paid by the end of the month; the numerator of dso_days.
--   not_due_value numeric(18,4): Open amount that is not due by then, or has no due date.
--   overdue_1_to_30_value numeric(18,4): Open amount that is 1 to 30 days overdue.
--   overdue_31_to_60_value numeric(18,4): Open amount that is 31 to 60 days overdue.
--   overdue_61_to_90_value numeric(18,4): Open amount that is 61 to 90 days overdue.
--   overdue_over_90_value numeric(18,4): Open amount that is more than 90 days overdue.
--   issued_90_days_value numeric(18,4): Invoices issued in the 90 days up to the end of the month; the denominator of dso_days.
--   dso_days double precision: Days sales outstanding: 90 times open_value over issued_90_days_value, both without pending
--     invoices, so low where the service confirms an invoice by its payment.
with
-- mart.invoice_ledger says whether and when an invoice was paid; a payment without a day counts on the day of confirmation.
-- A company whose invoices show no payment at all has is_payment_seen false.
payable_invoice as (
  select
    l.perspective,
    l.company_id,
    l.agency_id,
    :day(i.created_at) as issued_date,
    l.due_date,
    coalesce(l.final_value, 0) as payable_value,
    l.is_confirmed or coalesce(l.has_payment, false) as is_issued,
    case
      when l.has_payment then coalesce(l.paid_on, :day(l.confirmed_at))
    end as paid_date,
    max(case when l.has_payment then 1 else 0 end) over (partition by l.perspective, l.company_id) = 1 as is_payment_seen
  from mart.invoice_ledger as l
  inner join star.fact_invoice as i on i.invoice_id = l.invoice_id
  where l.document_type = 'invoice' and i.created_at is not null
),

month as (
  select d.month_start_date, least(max(d.date_day), :today) as month_end_date
  from star.dim_date as d
  where d.date_day >= (select min(p.issued_date) from payable_invoice as p) - 31 and d.month_start_date <= :today
  group by d.month_start_date
),

dated as (
  select
    p.*,
    m.month_start_date,
    m.month_end_date,
    p.is_issued and p.issued_date >= m.month_start_date as is_issued_now,
    p.is_issued and p.issued_date > m.month_end_date - 90 as is_recent,
    coalesce(
      case when p.paid_date < p.issued_date then p.issued_date else p.paid_date end between m.month_start_date and m.month_end_date, false
    ) as is_paid_now,
    p.is_issued and (p.paid_date is null or p.paid_date > m.month_end_date) as is_open,
    cast(m.month_end_date - p.due_date as integer) as overdue_days
  from payable_invoice as p
  inner join month as m on p.issued_date <= m.month_end_date
),

summed as (
  select
    d.perspective,
    d.company_id,
    d.agency_id,
    d.month_start_date,
    max(d.month_end_date) as month_end_date,
    bool_and(d.is_payment_seen) as is_payment_seen,
    sum(case when d.is_issued_now then d.payable_value else 0 end) as issued_value,
    sum(case when d.is_issued then 0 else d.payable_value end) as pending_value,
    sum(case when d.is_paid_now then d.payable_value else 0 end) as paid_value,
    count(*) filter (where d.is_paid_now) as paid_invoices,
    count(*) filter (where d.is_paid_now and d.paid_date > d.due_date) as paid_late,
    sum(case when d.is_paid_now then cast(d.paid_date - d.issued_date as integer) end) as days_to_pay,
    sum(case when d.is_open then d.payable_value else 0 end) as open_value,
    sum(case when d.is_open and coalesce(d.overdue_days, 0) <= 0 then d.payable_value else 0 end) as not_due,
    sum(case when d.is_open and d.overdue_days between 1 and 30 then d.payable_value else 0 end) as overdue_30,
    sum(case when d.is_open and d.overdue_days between 31 and 60 then d.payable_value else 0 end) as overdue_60,
    sum(case when d.is_open and d.overdue_days between 61 and 90 then d.payable_value else 0 end) as overdue_90,
    sum(case when d.is_open and d.overdue_days > 90 then d.payable_value else 0 end) as overdue_more,
    sum(case when d.is_recent then d.payable_value else 0 end) as issued_90_days_value
  from dated as d
  group by d.perspective, d.company_id, d.agency_id, d.month_start_date
)

select
  s.perspective,
  s.company_id,
  s.agency_id,
  s.month_start_date,
  s.month_end_date,
  s.is_payment_seen,
  s.issued_value,
  s.pending_value,
  case when s.is_payment_seen then s.paid_value end as paid_value,
  case when s.is_payment_seen then s.paid_invoices end as paid_invoices,
  case when s.is_payment_seen then s.paid_late end as paid_late,
  case when s.is_payment_seen then cast(s.days_to_pay as double precision) / nullif(s.paid_invoices, 0) end as avg_days_to_pay,
  case when s.is_payment_seen then s.open_value end as open_value,
  case when s.is_payment_seen then s.not_due end as not_due_value,
  case when s.is_payment_seen then s.overdue_30 end as overdue_1_to_30_value,
  case when s.is_payment_seen then s.overdue_60 end as overdue_31_to_60_value,
  case when s.is_payment_seen then s.overdue_90 end as overdue_61_to_90_value,
  case when s.is_payment_seen then s.overdue_more end as overdue_over_90_value,
  s.issued_90_days_value,
  case
    when s.is_payment_seen
      then cast(s.open_value as double precision) * 90.0 / nullif(cast(s.issued_90_days_value as double precision), 0)
  end as dso_days
from summed as s
