-- Work and claims that no invoice has billed to the hiring company yet, by how certain they are: approved timesheets,
-- timesheets that wait for approval, and approved claims. Pending and rejected claims are not owed.
-- Grain: one row per timesheet or claim without an invoice to the hiring company.
-- Question: What is owed for work that is not invoiced?
-- Assumption: an invoice in any state bills the hiring company, unless it goes from a supplier to the managed service
-- provider: the provider bills the company later. An agency key may never see that later invoice: an agency still has to
-- bill the rows without is_billed_to_msp. A claim is billed by the invoice that it names, or, when that goes to
-- the provider, once the provider has billed its timesheet to the company; a claim without a timesheet then stays here, with
-- is_billed_to_msp. The expenses of a timesheet are those of its claims. A waiting timesheet counts once its week has ended, as it may have been created ahead.
-- Sources: star.dim_company, star.fact_expense, star.fact_timesheet, star.fact_invoice, star.bridge_invoice_timesheet
-- Measures: sum net_hours, accrued_charge_value, accrued_expense_value, accrued_value; average age_days
-- Columns:
--   accrual_state text key: How certain it is: approved (an approved timesheet), unapproved (a timesheet whose week has
--     ended and that waits for submission or approval) or claims (an approved expense claim).
--   record_id text key: The timesheet, or the claim.
--   timesheet_id text: The timesheet; for a claim, the timesheet it belongs to, if any.
--   reference text: Reference of that timesheet.
--   company_id text: The hiring company; '-1' when the record names none.
--   project_id text: The project; '-1' when the record names none.
--   site_id text: The site; for a claim, the site of its timesheet; '-1' when the record names none.
--   agency_id text: The agency; '-1' when the record names none.
--   worker_id text: The worker; '-1' when the record names none.
--   assignment_id text: The assignment of the timesheet; empty when the record names none.
--   rate_type text: Engagement type of the timesheet: cis, paye or psc.
--   week_ending_date date: Last day of the week, as the company counts weeks; for a claim, the week of its timesheet, else
--     of its day.
--   approved_at timestamptz: When it was approved.
--   is_billed_to_msp boolean: Whether the agency has billed it to the managed service provider, which has not billed the company yet.
--   net_hours numeric(18,4): Hours after breaks; 0 for a claim.
--   accrued_charge_value numeric(18,4): Charge of the timesheet that is still to be invoiced; 0 for a claim.
--   accrued_expense_value numeric(18,4): Value of the claim; 0 for a timesheet.
--   accrued_value numeric(18,4): Sum of accrued_charge_value and accrued_expense_value.
--   age_days integer: Days since the week ended.
--   age_band text: 0-7, 8-14, 15-28 or 29+ days; not ended before the week is over; empty without a week.
with
-- Include: dated_expense

-- Include: owed_work

owed as (
  select
    o.*,
    case
      when o.record_kind = 'claim' then 'claims'
      when o.is_approved then 'approved'
      else 'unapproved'
    end as accrual_state,
    case when o.record_kind = 'claim' then o.accrued_value else 0 end as accrued_expense_value,
    :days(:today, o.week_ending_date) as age_days
  from owed_work as o
  where not o.is_billed
)

select
  o.accrual_state,
  o.record_id,
  o.timesheet_id,
  o.reference,
  o.company_id,
  o.project_id,
  o.site_id,
  o.agency_id,
  o.worker_id,
  o.assignment_id,
  o.rate_type,
  o.week_ending_date,
  o.approved_at,
  o.is_billed_to_msp,
  o.net_hours,
  o.accrued_value - o.accrued_expense_value as accrued_charge_value,
  o.accrued_expense_value,
  o.accrued_value,
  cast(o.age_days as integer) as age_days,
  case
    when o.age_days < 0 then 'not ended'
    when o.age_days <= 7 then '0-7'
    when o.age_days <= 14 then '8-14'
    when o.age_days <= 28 then '15-28'
    when o.age_days > 28 then '29+'
  end as age_band
from owed as o
