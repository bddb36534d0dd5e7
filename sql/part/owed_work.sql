-- Work that must be invoiced to the hiring company sooner or later, with the day on which an invoice billed it: timesheets
-- of work done, and approved claims. An invoice from a supplier to the managed service provider bills nothing to the
-- company: such a claim is billed with its timesheet, by the provider. Work billed by the end of the month of its week is left out, as no month ended without its invoice. Reads the
-- part dated_expense.
billing_invoice as (
  select
    i.invoice_id,
    coalesce(i.invoice_type, '') = 'supplierToMsp' as is_to_msp,
    :day(i.created_at) as billed_date
  from star.fact_invoice as i
  where not i.is_deleted
),

-- Not materialized, although it is read twice: it is wider than its sources.
billing as not materialized (
  select
    b.timesheet_id,
    i.is_to_msp,
    i.billed_date,
    cast(date_trunc('month', i.billed_date) as date) as billed_month
  from star.bridge_invoice_timesheet as b
  inner join billing_invoice as i on i.invoice_id = b.invoice_id
  where not b.is_deleted and b.timesheet_id is not null
),

-- Finds ids first: nearly all timesheets are billed at once, and few columns of ten million fit the memory of DuckDB.
perhaps_owed as (
  select distinct t.timesheet_id
  from star.fact_timesheet as t
  left join billing as b on b.timesheet_id = t.timesheet_id
  where not t.is_deleted
    and (t.status = 'approved' or (t.status in ('pending', 'pending_approval') and t.week_ending_date <= :today))
    and (
      b.timesheet_id is null
      or b.is_to_msp
      or b.billed_month > cast(date_trunc('month', t.week_ending_date) as date)
    )
),

billed_timesheet as (
  select
    b.timesheet_id,
    min(case when not b.is_to_msp then b.billed_date end) as billed_date,
    bool_or(b.is_to_msp) as is_billed_to_msp,
    bool_or(not b.is_to_msp) as is_billed
  from billing as b
  inner join perhaps_owed as p on p.timesheet_id = b.timesheet_id
  group by b.timesheet_id
),

-- Claims on an invoice to the provider, whose timesheet the provider billed to the company.
passed_on as (
  select e.expense_id, greatest(i.billed_date, min(b.billed_date)) as billed_date
  from dated_expense as e
  inner join billing_invoice as i on i.invoice_id = e.invoice_id and i.is_to_msp
  inner join billing as b on b.timesheet_id = e.timesheet_id and not b.is_to_msp
  where e.status = 'approved'
  group by e.expense_id, i.billed_date
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
  inner join perhaps_owed as p on p.timesheet_id = t.timesheet_id
  left join billed_timesheet as b on b.timesheet_id = t.timesheet_id
  union all
  select
    'claim' as record_kind,
    e.expense_id as record_id,
    e.sheet_id as timesheet_id,
    e.sheet_reference as reference,
    e.company_id,
    e.project_id,
    coalesce(e.sheet_site_id, '-1') as site_id,
    e.agency_id,
    e.worker_id,
    e.sheet_assignment_id as assignment_id,
    e.sheet_rate_type as rate_type,
    e.week_ending_date,
    true as is_approved,
    e.approved_at,
    0 as net_hours,
    coalesce(e.value, 0) as accrued_value,
    p.expense_id is not null or (i.invoice_id is not null and not i.is_to_msp) as is_billed,
    case when i.is_to_msp then p.billed_date else i.billed_date end as billed_date,
    coalesce(i.is_to_msp, false) as is_billed_to_msp
  from dated_expense as e
  left join billing_invoice as i on i.invoice_id = e.invoice_id
  left join passed_on as p on p.expense_id = e.expense_id
  where e.status = 'approved'
),
