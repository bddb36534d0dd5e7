-- Rows of each resource in one pass: `held`; with the total that the service gave when a list was last read whole, and the
-- rows that were held then: those that came and went since do not tell against it. Of timesheets and expenses later walks ask
-- for changes only, so that the total is that of the backfill. Reads resource_table.

-- One row more for each resource, so that a table without rows is told too.
resource_row as not materialized (
  select resource, 0 as n, false as is_stub, cast(null as boolean) as is_deleted, cast(null as timestamptz) as deleted_at,
    cast(null as timestamptz) as source_updated_at, cast(null as timestamptz) as first_loaded_at,
    cast(null as timestamptz) as loaded_at
  from resource_table where is_own
  union all select 'key', 1, is_stub, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.dim_api_key where api_key_id <> '-1'
  union all select 'companies', 1, is_stub, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.dim_company where company_id <> '-1'
  union all select 'projects', 1, is_stub, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.dim_project where project_id <> '-1'
  union all select 'sites', 1, is_stub, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.dim_site where site_id <> '-1'
  union all select 'users', 1, is_stub, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.dim_user where user_id <> '-1'
  union all select 'timesheets', 1, false, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.fact_timesheet
  union all select 'expenses', 1, false, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.fact_expense
  union all select 'invoices', 1, false, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.fact_invoice
  union all select 'access-rules', 1, is_stub, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.dim_access_rule where access_rule_id <> '-1'
  union all select 'user-assignments', 1, false, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.bridge_company_user
  union all select 'user-permissions', 1, false, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.bridge_user_access
  union all select 'competency-matrix', 1, false, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.fact_competency_entry
  union all select 'metric-rows', 1, false, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.fact_recruitment_metric_row
  union all select 'requisitions', 1, false, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.fact_requisition
  union all select 'assignments', 1, false, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.fact_assignment
  union all select 'trades', 1, is_stub, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.dim_trade where trade_id <> '-1'
  union all select 'rates', 1, is_stub, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.dim_rate where rate_id <> '-1'
  union all select 'credit-notes', 1, false, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.fact_credit_note
  union all select 'purchase-orders', 1, is_stub, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at from star.dim_purchase_order where purchase_order_id <> '-1'
),

mark as (
  select
    w.resource,
    w.remembered_total as total,
    case when w.resource in ('timesheets', 'expenses') then w.backfilled_at else w.moved_at end as given_at
  from ops.watermark as w
  where w.backfilled_at is not null and w.remembered_total is not null
),

held as (
  select
    x.resource,
    max(mark.total) as total,
    sum(x.n) as row_count,
    sum(case when not x.is_deleted and not x.is_stub then 1 else 0 end) as live_rows,
    sum(case when x.is_stub then 1 else 0 end) as stub_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    sum(case
      when x.n = 1 and not x.is_stub and x.first_loaded_at <= mark.given_at and (not x.is_deleted or x.deleted_at > mark.given_at) then 1
      else 0
    end) as then_rows,
    max(x.source_updated_at) as max_source_updated_at,
    max(x.loaded_at) as last_loaded_at
  from resource_row as x
  left join mark on mark.resource = x.resource
  group by x.resource
),
