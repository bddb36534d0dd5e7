-- Approved timesheets that no invoice has billed to the hiring company yet, with what they will cost and how old they are.
-- Grain: one row per approved timesheet without an invoice to the hiring company.
-- Question: What is worked but not invoiced?
-- Assumption: an invoice bills the hiring company, in whatever state it is, unless it goes from a supplier to the managed service
-- provider: the provider bills the company for it later. An agency key may never see that later invoice: the rows without
-- is_billed_to_msp are those that an agency has still to bill.
-- Sources: star.fact_timesheet, star.fact_invoice, star.bridge_invoice_timesheet
-- Columns:
--   timesheet_id text key: The timesheet.
--   reference text: Its reference.
--   company_id text: The hiring company; '-1' when the record names none.
--   project_id text: The project; '-1' when the record names none.
--   site_id text: The site; '-1' when the record names none.
--   agency_id text: The agency; '-1' when the record names none.
--   worker_id text: The worker; '-1' when the record names none.
--   assignment_id text: The assignment; empty when the record names none.
--   rate_type text: Engagement type: cis, paye or psc.
--   week_ending_date date: Last day of the week, as the company counts weeks.
--   approved_at timestamptz: When it was approved.
--   is_billed_to_msp boolean: Whether the agency has billed it to the managed service provider, which has not billed the company yet.
--   net_hours numeric(18,4): Hours after breaks.
--   accrued_charge_value numeric(18,4): Charge that is still to be invoiced.
--   accrued_expense_value numeric(18,4): Expenses claimed with it.
--   accrued_value numeric(18,4): Both together.
--   age_days integer: Days since the week ended.
--   age_band text: 0-7, 8-14, 15-28 or 29+ days; not ended before the week is over.
with invoiced as (
  select b.timesheet_id, bool_and(coalesce(i.invoice_type, '') = 'supplierToMsp') as is_msp_alone
  from star.bridge_invoice_timesheet as b
  inner join star.fact_invoice as i on i.invoice_id = b.invoice_id
  where not b.is_deleted and not i.is_deleted and b.timesheet_id is not null
  group by b.timesheet_id
)

select
  t.timesheet_id,
  t.reference,
  t.company_id,
  t.project_id,
  t.site_id,
  t.agency_id,
  t.worker_id,
  t.assignment_id,
  t.rate_type,
  t.week_ending_date,
  t.approved_at,
  coalesce(invoiced.is_msp_alone, false) as is_billed_to_msp,
  t.net_hours,
  coalesce(t.charge_total, 0) as accrued_charge_value,
  coalesce(t.expense_value, 0) as accrued_expense_value,
  coalesce(t.charge_total, 0) + coalesce(t.expense_value, 0) as accrued_value,
  cast(:today - t.week_ending_date as integer) as age_days,
  case
    when :today - t.week_ending_date < 0 then 'not ended'
    when :today - t.week_ending_date <= 7 then '0-7'
    when :today - t.week_ending_date <= 14 then '8-14'
    when :today - t.week_ending_date <= 28 then '15-28'
    when :today - t.week_ending_date > 28 then '29+'
  end as age_band
from star.fact_timesheet as t
left join invoiced on invoiced.timesheet_id = t.timesheet_id
where not t.is_deleted and t.status = 'approved' and coalesce(invoiced.is_msp_alone, true)
