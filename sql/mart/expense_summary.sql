-- Expense claims by week, project and category, with working rule agreement and lodging shown separately.
-- Grain: one row per week ending, company, project and category.
-- Question: What do workers claim?
-- Assumption: a claim belongs to the week of its timesheet; without one, to the week that ends on the weekday configured for
-- the company, else on Sunday. Claims without a date are left out.
-- Sources: star.fact_expense, star.fact_expense_receipt, star.fact_timesheet, star.dim_company, star.dim_expense_category
-- Measures: sum claims, claims_without_timesheet, approved_value, pending_value, rejected_value, approved_and_pending_value,
--   approved_hours, approved_wra_value, approved_lodging_value, invoiced_value, claims_without_receipt,
--   approved_without_receipt_value; none workers; ratio no_receipt_ratio = claims_without_receipt / claims; ratio
--   approved_share = approved_value / approved_and_pending_value
-- Columns:
--   week_ending_date date key: Last day of the week, as the company counts weeks.
--   company_id text key: The hiring company; '-1' when the records name none.
--   project_id text key: The project; '-1' when the records name none.
--   category text key: Category of the claim; none when it has none.
--   category_group text: Group of the category: travel, lodging, pay, plant or other; other for a category that is not known.
--   claims bigint: Claims in any state.
--   workers bigint: Different workers who claimed.
--   claims_without_timesheet bigint: Claims whose week is that of their date.
--   approved_value numeric(18,4): Approved claims.
--   pending_value numeric(18,4): Claims that wait for approval.
--   approved_and_pending_value numeric(18,4): Sum of approved_value and pending_value; the denominator of approved_share.
--   approved_share double precision: Approved share by value: approved_value / approved_and_pending_value; empty where there
--     are none.
--   rejected_value numeric(18,4): Rejected claims.
--   approved_hours numeric(18,4): Hours of approved claims that record any.
--   approved_wra_value numeric(18,4): Approved claims: daily amount of the working rule agreement by days paid.
--   approved_lodging_value numeric(18,4): Approved claims for lodging.
--   invoiced_value numeric(18,4): Approved claims that are on an invoice.
--   claims_without_receipt bigint: Claims in any state that show no receipt with a file; claims by the hour may need none.
--   no_receipt_ratio double precision: claims_without_receipt / claims.
--   approved_without_receipt_value numeric(18,4): Approved claims that show no receipt with a file.
with
-- Include: dated_expense

claim as (
  select
    e.week_ending_date,
    e.company_id,
    e.project_id,
    coalesce(e.category, 'none') as category,
    e.worker_id,
    e.status,
    e.has_no_timesheet,
    coalesce(e.value, 0) as value,
    coalesce(e.hours, 0) as hours,
    case when coalesce(e.is_wra_applicable, true)
      then cast(coalesce(cast(e.wra_daily_amount as double precision) * cast(e.wra_days_paid as double precision), 0)
        as numeric(18, 4))
      else 0
    end as wra_value,
    e.invoice_id,
    r.expense_id is null as has_no_receipt
  from dated_expense as e
  left join (
    select distinct f.expense_id from star.fact_expense_receipt as f where not f.is_deleted and f.has_file
  ) as r on r.expense_id = e.expense_id
  where e.week_ending_date is not null
)

select
  claim.week_ending_date,
  claim.company_id,
  claim.project_id,
  claim.category,
  coalesce(max(g.category_group), 'other') as category_group,
  count(*) as claims,
  count(distinct nullif(claim.worker_id, '-1')) as workers,
  sum(case when claim.has_no_timesheet then 1 else 0 end) as claims_without_timesheet,
  sum(case when claim.status = 'approved' then claim.value else 0 end) as approved_value,
  sum(case when claim.status = 'pending' then claim.value else 0 end) as pending_value,
  sum(case when claim.status in ('approved', 'pending') then claim.value else 0 end) as approved_and_pending_value,
  cast(sum(case when claim.status = 'approved' then claim.value else 0 end) as double precision) / nullif(
    cast(sum(case when claim.status in ('approved', 'pending') then claim.value else 0 end) as double precision), 0
  ) as approved_share,
  sum(case when claim.status = 'rejected' then claim.value else 0 end) as rejected_value,
  sum(case when claim.status = 'approved' then claim.hours else 0 end) as approved_hours,
  sum(case when claim.status = 'approved' then claim.wra_value else 0 end) as approved_wra_value,
  sum(case when claim.status = 'approved' and g.category_group = 'lodging' then claim.value else 0 end) as approved_lodging_value,
  sum(case when claim.status = 'approved' and claim.invoice_id is not null then claim.value else 0 end) as invoiced_value,
  sum(case when claim.has_no_receipt then 1 else 0 end) as claims_without_receipt,
  cast(sum(case when claim.has_no_receipt then 1 else 0 end) as double precision) / count(*) as no_receipt_ratio,
  sum(case when claim.status = 'approved' and claim.has_no_receipt then claim.value else 0 end) as approved_without_receipt_value
from claim
left join star.dim_expense_category as g on g.category = claim.category
group by claim.week_ending_date, claim.company_id, claim.project_id, claim.category
