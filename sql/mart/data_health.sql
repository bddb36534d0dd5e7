-- How complete and how fresh each table is that the service fills, and which checks it fails.
-- Grain: one row per resource of the service, by the table its records are in.
-- Question: Can I trust today's numbers?
-- Assumption: expected is the total the service gave when the list was last read whole; of what has no list, as many as other
-- records name. Nothing tells how many credit notes there are.
-- Sources: star.dim_company, star.dim_project, star.dim_site, star.dim_user, star.fact_timesheet, star.fact_expense,
--   star.fact_invoice, star.dim_access_rule, star.bridge_company_user, star.bridge_user_access,
--   star.fact_competency_entry, star.fact_recruitment_metric_row, star.fact_requisition, star.fact_assignment,
--   star.dim_trade, star.dim_rate, star.fact_credit_note, star.dim_purchase_order, star.dim_api_key,
--   ops.watermark, ops.window, ops.run, ops.run_resource, ops.check_result
-- Columns:
--   resource text key: What the service calls it.
--   table_name text: Table of its records, with the schema.
--   row_count bigint: Rows, gone and only named ones included.
--   live_rows bigint: Rows that were read and are not gone; the numerator of coverage_share.
--   stub_rows bigint: Rows that are known by reference only.
--   deleted_rows bigint: Rows that are gone at the source.
--   max_source_updated_at timestamptz: When a record last changed at the source.
--   last_loaded_at timestamptz: When a row last changed here.
--   last_read_at timestamptz: End of the last run that read it without failing; empty when none did.
--   freshness_hours double precision: Hours from that to the newest reading of anything.
--   expected_rows bigint: Rows that there should be; the denominator of coverage_share; empty when nothing tells.
--   coverage_share double precision: Share that is held: live_rows by expected_rows.
--   reconciliation_status text: Rows held beside those expected: equal, short (rows are missing), more (rows that were deleted at the source, or are newer than the total) or not known.
--   failed_checks bigint: Checks of the table whose last result has failing rows.
--   failed_error_checks bigint: Those that are errors.
--   failed_rows bigint: Rows that they name.
with held as (
  select 'companies' as resource, 'star.dim_company' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted and not x.is_stub then 1 else 0 end) as live_rows,
    sum(case when x.is_stub then 1 else 0 end) as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.dim_company as x
  where x.company_id <> '-1'
  union all
  select 'projects' as resource, 'star.dim_project' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted and not x.is_stub then 1 else 0 end) as live_rows,
    sum(case when x.is_stub then 1 else 0 end) as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.dim_project as x
  where x.project_id <> '-1'
  union all
  select 'sites' as resource, 'star.dim_site' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted and not x.is_stub then 1 else 0 end) as live_rows,
    sum(case when x.is_stub then 1 else 0 end) as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.dim_site as x
  where x.site_id <> '-1'
  union all
  select 'users' as resource, 'star.dim_user' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted and not x.is_stub then 1 else 0 end) as live_rows,
    sum(case when x.is_stub then 1 else 0 end) as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.dim_user as x
  where x.user_id <> '-1'
  union all
  select 'timesheets' as resource, 'star.fact_timesheet' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted then 1 else 0 end) as live_rows,
    0 as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.fact_timesheet as x
  union all
  select 'expenses' as resource, 'star.fact_expense' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted then 1 else 0 end) as live_rows,
    0 as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.fact_expense as x
  union all
  select 'invoices' as resource, 'star.fact_invoice' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted then 1 else 0 end) as live_rows,
    0 as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.fact_invoice as x
  union all
  select 'access-rules' as resource, 'star.dim_access_rule' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted and not x.is_stub then 1 else 0 end) as live_rows,
    sum(case when x.is_stub then 1 else 0 end) as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.dim_access_rule as x
  where x.access_rule_id <> '-1'
  union all
  select 'user-assignments' as resource, 'star.bridge_company_user' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted then 1 else 0 end) as live_rows,
    0 as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.bridge_company_user as x
  union all
  select 'user-permissions' as resource, 'star.bridge_user_access' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted then 1 else 0 end) as live_rows,
    0 as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.bridge_user_access as x
  union all
  select 'competency-matrix' as resource, 'star.fact_competency_entry' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted then 1 else 0 end) as live_rows,
    0 as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.fact_competency_entry as x
  union all
  select 'metric-rows' as resource, 'star.fact_recruitment_metric_row' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted then 1 else 0 end) as live_rows,
    0 as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.fact_recruitment_metric_row as x
  union all
  select 'requisitions' as resource, 'star.fact_requisition' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted then 1 else 0 end) as live_rows,
    0 as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.fact_requisition as x
  union all
  select 'assignments' as resource, 'star.fact_assignment' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted then 1 else 0 end) as live_rows,
    0 as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.fact_assignment as x
  union all
  select 'trades' as resource, 'star.dim_trade' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted and not x.is_stub then 1 else 0 end) as live_rows,
    sum(case when x.is_stub then 1 else 0 end) as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.dim_trade as x
  where x.trade_id <> '-1'
  union all
  select 'rates' as resource, 'star.dim_rate' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted and not x.is_stub then 1 else 0 end) as live_rows,
    sum(case when x.is_stub then 1 else 0 end) as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.dim_rate as x
  where x.rate_id <> '-1'
  union all
  select 'credit-notes' as resource, 'star.fact_credit_note' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted then 1 else 0 end) as live_rows,
    0 as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.fact_credit_note as x
  union all
  select 'purchase-orders' as resource, 'star.dim_purchase_order' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted and not x.is_stub then 1 else 0 end) as live_rows,
    sum(case when x.is_stub then 1 else 0 end) as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.dim_purchase_order as x
  where x.purchase_order_id <> '-1'
  union all
  select 'key' as resource, 'star.dim_api_key' as table_name, count(*) as row_count,
    sum(case when not x.is_deleted and not x.is_stub then 1 else 0 end) as live_rows,
    sum(case when x.is_stub then 1 else 0 end) as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    max(x.source_updated_at) as max_source_updated_at, max(x.loaded_at) as last_loaded_at
  from star.dim_api_key as x
  where x.api_key_id <> '-1'
),

-- Rows that came and went since the total was given do not tell against it.
list_total as (
  select w.resource, w.remembered_total as total, count(x.loaded_at) as then_rows
  from ops.watermark as w
  left join star.dim_company as x
    on x.first_loaded_at <= w.moved_at and (not x.is_deleted or x.deleted_at > w.moved_at) and not x.is_stub and x.company_id <> '-1'
  where w.resource = 'companies' and w.backfilled_at is not null and w.remembered_total is not null
  group by w.resource, w.remembered_total
  union all
  select w.resource, w.remembered_total as total, count(x.loaded_at) as then_rows
  from ops.watermark as w
  left join star.dim_project as x
    on x.first_loaded_at <= w.moved_at and (not x.is_deleted or x.deleted_at > w.moved_at) and not x.is_stub and x.project_id <> '-1'
  where w.resource = 'projects' and w.backfilled_at is not null and w.remembered_total is not null
  group by w.resource, w.remembered_total
  union all
  select w.resource, w.remembered_total as total, count(x.loaded_at) as then_rows
  from ops.watermark as w
  left join star.dim_site as x
    on x.first_loaded_at <= w.moved_at and (not x.is_deleted or x.deleted_at > w.moved_at) and not x.is_stub and x.site_id <> '-1'
  where w.resource = 'sites' and w.backfilled_at is not null and w.remembered_total is not null
  group by w.resource, w.remembered_total
  union all
  select w.resource, w.remembered_total as total, count(x.loaded_at) as then_rows
  from ops.watermark as w
  left join star.dim_user as x
    on x.first_loaded_at <= w.moved_at and (not x.is_deleted or x.deleted_at > w.moved_at) and not x.is_stub and x.user_id <> '-1'
  where w.resource = 'users' and w.backfilled_at is not null and w.remembered_total is not null
  group by w.resource, w.remembered_total
  union all
  select w.resource, w.remembered_total as total, count(x.loaded_at) as then_rows
  from ops.watermark as w
  left join star.fact_timesheet as x
    on x.first_loaded_at <= w.backfilled_at and (not x.is_deleted or x.deleted_at > w.backfilled_at)
  where w.resource = 'timesheets' and w.backfilled_at is not null and w.remembered_total is not null
  group by w.resource, w.remembered_total
  union all
  select w.resource, w.remembered_total as total, count(x.loaded_at) as then_rows
  from ops.watermark as w
  left join star.fact_expense as x
    on x.first_loaded_at <= w.backfilled_at and (not x.is_deleted or x.deleted_at > w.backfilled_at)
  where w.resource = 'expenses' and w.backfilled_at is not null and w.remembered_total is not null
  group by w.resource, w.remembered_total
  union all
  select w.resource, w.remembered_total as total, count(x.loaded_at) as then_rows
  from ops.watermark as w
  left join star.fact_invoice as x
    on x.first_loaded_at <= w.moved_at and (not x.is_deleted or x.deleted_at > w.moved_at)
  where w.resource = 'invoices' and w.backfilled_at is not null and w.remembered_total is not null
  group by w.resource, w.remembered_total
),

walked as (
  select list_total.resource, list_total.total + held.live_rows - list_total.then_rows as expected_rows
  from list_total
  inner join held on held.resource = list_total.resource
),

newest_window as (
  select
    w.resource,
    w.greatest_total,
    row_number() over (partition by w.resource, w.scope order by w.started_at desc, w.window_id desc) as place
  from ops.window as w
  where w.kind = 'snapshot' and w.state = 'accepted' and w.resource <> 'metric-rows'
),

named as (
  select 'requisitions' as resource, count(*) as expected_rows
  from (
    select r.company_id, r.reference from star.fact_requisition as r where not r.is_deleted
    union
    select a.company_id, a.requisition_reference from star.fact_assignment as a
    where not a.is_deleted and a.requisition_reference is not null
    union
    select m.company_id, m.requisition_reference from star.fact_recruitment_metric_row as m where not m.is_deleted
  ) as requisition
  union all
  select 'assignments' as resource, count(*) as expected_rows
  from (
    select a.assignment_id from star.fact_assignment as a where not a.is_deleted
    union
    select t.assignment_id from star.fact_timesheet as t where not t.is_deleted and t.assignment_id is not null
  ) as assignment
  union all
  select 'purchase-orders' as resource, count(distinct coalesce(nullif(po.purchase_order_reference_key, '-1'), po.purchase_order_id)) as expected_rows
  from star.dim_purchase_order as po
  where not po.is_deleted and po.purchase_order_id <> '-1'
),

expected as (
  select walked.resource, walked.expected_rows from walked
  union all
  select n.resource, sum(n.greatest_total) as expected_rows
  from newest_window as n
  where n.place = 1
  group by n.resource
  union all
  select named.resource, named.expected_rows from named
  union all
  select held.resource, held.live_rows + held.stub_rows as expected_rows
  from held
  where held.resource in ('trades', 'rates')
),

read as (
  select rr.resource, max(r.finished_at) as last_read_at
  from ops.run_resource as rr
  inner join ops.run as r on r.run_id = rr.run_id
  where rr.state = 'done'
  group by rr.resource
),

last_result as (
  select c.check_name, max(c.checked_at) as checked_at
  from ops.check_result as c
  group by c.check_name
),

failed as (
  select
    c.subject,
    count(*) as failed_checks,
    sum(case when c.severity = 'error' then 1 else 0 end) as failed_error_checks,
    sum(c.failed_rows) as failed_rows
  from ops.check_result as c
  inner join last_result as l on l.check_name = c.check_name and l.checked_at = c.checked_at
  where c.failed_rows > 0
  group by c.subject
)

select
  held.resource,
  held.table_name,
  held.row_count,
  coalesce(held.live_rows, 0) as live_rows,
  coalesce(held.stub_rows, 0) as stub_rows,
  coalesce(held.deleted_rows, 0) as deleted_rows,
  held.max_source_updated_at,
  held.last_loaded_at,
  read.last_read_at,
  cast(extract(epoch from (:as_of - read.last_read_at)) as double precision) / 3600.0 as freshness_hours,
  expected.expected_rows,
  cast(coalesce(held.live_rows, 0) as double precision) / nullif(cast(expected.expected_rows as double precision), 0) as coverage_share,
  case
    when expected.expected_rows is null then 'not known'
    when coalesce(held.live_rows, 0) < expected.expected_rows then 'short'
    when held.live_rows > expected.expected_rows then 'more'
    else 'equal'
  end as reconciliation_status,
  coalesce(failed.failed_checks, 0) as failed_checks,
  coalesce(failed.failed_error_checks, 0) as failed_error_checks,
  coalesce(failed.failed_rows, 0) as failed_rows
from held
left join expected on expected.resource = held.resource
left join read on read.resource = held.resource
left join failed on failed.subject = held.table_name
