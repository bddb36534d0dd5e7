-- How many records went from one state to another on each day: approvals, rejections, cancellations over time.
-- Grain: one row per day, kind of record, company, project, agency, previous state and new state.
-- Question: How many timesheets, requisitions and invoices moved on, day by day?
-- Assumption: only changes that a sync has seen count: two changes between two syncs show as one, and changes before the
-- first sync are unknown. A change is dated by the record's own time of change, else by when it was read.
-- Sources: history.fact_assignment, history.fact_credit_note, history.fact_expense, history.fact_invoice,
--   history.fact_requisition, history.fact_timesheet, star.fact_assignment, star.fact_credit_note,
--   star.fact_expense, star.fact_invoice, star.fact_requisition, star.fact_timesheet
-- Measures: sum changes
-- Columns:
--   changed_date date key: Day of the change, reporting zone.
--   entity text key: Kind of record: timesheet, expense, requisition, assignment, invoice or credit_note.
--   company_id text key: The hiring company; '-1' when the record names none.
--   project_id text key: The project; '-1' when the record names none.
--   agency_id text key: The agency; '-1' when the record names none.
--   status_before text key: State before; none when the record had none.
--   status_after text key: State after; none when the record has none.
--   changes bigint: Changes of state; a record that changed twice counts twice.
with version as (
  select 'timesheet' as entity, timesheet_id as record_id, company_id, project_id as project_id, agency_id as agency_id, status, valid_from as changed_at, 0 as is_current
  from history.fact_timesheet
  union all
  select 'timesheet' as entity, timesheet_id as record_id, company_id, project_id as project_id, agency_id as agency_id, status, valid_from as changed_at,
    1 as is_current
  from star.fact_timesheet
  where timesheet_id in (select h.timesheet_id from history.fact_timesheet as h)
  union all
  select 'expense' as entity, expense_id as record_id, company_id, project_id as project_id, agency_id as agency_id, status, valid_from as changed_at, 0 as is_current
  from history.fact_expense
  union all
  select 'expense' as entity, expense_id as record_id, company_id, project_id as project_id, agency_id as agency_id, status, valid_from as changed_at,
    1 as is_current
  from star.fact_expense
  where expense_id in (select h.expense_id from history.fact_expense as h)
  union all
  select 'requisition' as entity, requisition_id as record_id, company_id, project_id as project_id, cast('-1' as text) as agency_id, status, valid_from as changed_at, 0 as is_current
  from history.fact_requisition
  union all
  select 'requisition' as entity, requisition_id as record_id, company_id, project_id as project_id, cast('-1' as text) as agency_id, status, valid_from as changed_at,
    1 as is_current
  from star.fact_requisition
  where requisition_id in (select h.requisition_id from history.fact_requisition as h)
  union all
  select 'assignment' as entity, assignment_id as record_id, company_id, project_id as project_id, agency_id as agency_id, status, valid_from as changed_at, 0 as is_current
  from history.fact_assignment
  union all
  select 'assignment' as entity, assignment_id as record_id, company_id, project_id as project_id, agency_id as agency_id, status, valid_from as changed_at,
    1 as is_current
  from star.fact_assignment
  where assignment_id in (select h.assignment_id from history.fact_assignment as h)
  union all
  select 'invoice' as entity, invoice_id as record_id, company_id, cast('-1' as text) as project_id, agency_id as agency_id, status, valid_from as changed_at, 0 as is_current
  from history.fact_invoice
  union all
  select 'invoice' as entity, invoice_id as record_id, company_id, cast('-1' as text) as project_id, agency_id as agency_id, status, valid_from as changed_at,
    1 as is_current
  from star.fact_invoice
  where invoice_id in (select h.invoice_id from history.fact_invoice as h)
  union all
  select 'credit_note' as entity, credit_note_id as record_id, company_id, project_id as project_id, agency_id as agency_id, status, valid_from as changed_at, 0 as is_current
  from history.fact_credit_note
  union all
  select 'credit_note' as entity, credit_note_id as record_id, company_id, project_id as project_id, agency_id as agency_id, status, valid_from as changed_at,
    1 as is_current
  from star.fact_credit_note
  where credit_note_id in (select h.credit_note_id from history.fact_credit_note as h)
),

change as (
  select
    version.*,
    row_number() over (
      partition by version.entity, version.record_id order by version.is_current, version.changed_at nulls first
    ) as place,
    lag(version.status) over (
      partition by version.entity, version.record_id order by version.is_current, version.changed_at nulls first
    ) as status_before
  from version
)

select
  :day(change.changed_at) as changed_date,
  change.entity,
  coalesce(change.company_id, '-1') as company_id,
  coalesce(change.project_id, '-1') as project_id,
  coalesce(change.agency_id, '-1') as agency_id,
  coalesce(change.status_before, 'none') as status_before,
  coalesce(change.status, 'none') as status_after,
  count(*) as changes
from change
where change.place > 1 and change.status is distinct from change.status_before and change.changed_at is not null
group by
  :day(change.changed_at), change.entity, coalesce(change.company_id, '-1'),
  coalesce(change.project_id, '-1'), coalesce(change.agency_id, '-1'), coalesce(change.status_before, 'none'),
  coalesce(change.status, 'none')
