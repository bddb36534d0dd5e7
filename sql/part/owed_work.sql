-- Work that is to be invoiced to the hiring company sooner or later, with the day from which an invoice bills it: timesheets
-- that are worked, and approved claims. An invoice from a supplier to the managed service provider bills nothing to the company.
-- Reads the part dated_expense.
billed_timesheet as (
  select
    b.timesheet_id,
    min(case when coalesce(i.invoice_type, '') <> 'supplierToMsp' then :day(i.created_at) end) as billed_date,
    bool_or(coalesce(i.invoice_type, '') = 'supplierToMsp') as is_billed_to_msp,
    bool_or(coalesce(i.invoice_type, '') <> 'supplierToMsp') as is_billed
  from star.bridge_invoice_timesheet as b
  inner join star.fact_invoice as i on i.invoice_id = b.invoice_id
  where not b.is_deleted and not i.is_deleted and b.timesheet_id is not null
  group by b.timesheet_id
),

owed_work as (
  select
    'timesheet' as record_kind,
    t.timesheet_id as record_id,
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
    t.status = 'approved' as is_approved,
    t.approved_at,
    coalesce(t.net_hours, 0) as net_hours,
    coalesce(t.charge_total, 0) as accrued_value,
    coalesce(b.is_billed, false) as is_billed,
    b.billed_date,
    coalesce(b.is_billed_to_msp, false) as is_billed_to_msp
  from star.fact_timesheet as t
  left join billed_timesheet as b on b.timesheet_id = t.timesheet_id
  where not t.is_deleted
    and (t.status = 'approved' or (t.status in ('pending', 'pending_approval') and t.week_ending_date <= :today))
  union all
  select
    'claim' as record_kind,
    e.expense_id as record_id,
    t.timesheet_id,
    t.reference,
    e.company_id,
    e.project_id,
    coalesce(t.site_id, '-1') as site_id,
    e.agency_id,
    e.worker_id,
    t.assignment_id,
    t.rate_type,
    e.week_ending_date,
    true as is_approved,
    e.approved_at,
    0 as net_hours,
    coalesce(e.value, 0) as accrued_value,
    i.invoice_id is not null and coalesce(i.invoice_type, '') <> 'supplierToMsp' as is_billed,
    case when coalesce(i.invoice_type, '') <> 'supplierToMsp' then :day(i.created_at) end as billed_date,
    coalesce(i.invoice_type, '') = 'supplierToMsp' as is_billed_to_msp
  from dated_expense as e
  left join star.fact_timesheet as t on t.timesheet_id = e.timesheet_id and not t.is_deleted
  left join star.fact_invoice as i on i.invoice_id = e.invoice_id and not i.is_deleted
  where e.status = 'approved'
),
