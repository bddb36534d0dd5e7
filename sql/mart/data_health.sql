-- How complete and how fresh each table is that the service fills, and which checks it fails.
-- Grain: one row per resource of the service, by the table its records are in.
-- Question: Can I trust today's numbers?
-- Assumption: expected is the total the service gave when the list was last read whole; of what has no list, as many as other
-- records name. Nothing tells how many credit notes there are, but invoices tell what they come to. Requisitions are held
-- against time to fill, timesheets against workers over hours.
-- Sources: star.dim_api_key, star.dim_company, star.dim_project, star.dim_site, star.dim_user, star.fact_timesheet,
--   star.fact_expense, star.fact_invoice, star.dim_access_rule, star.bridge_company_user, star.bridge_user_access,
--   star.fact_competency_entry, star.fact_recruitment_metric_row, star.fact_requisition, star.fact_assignment,
--   star.dim_trade, star.dim_rate, star.fact_credit_note, star.dim_purchase_order, ops.watermark,
--   ops.window, ops.run, ops.run_resource, ops.check_result, ops.crosscheck
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
--   compared_figures bigint: Figures that the service computes of these records and that were held against ours: of the metrics at the last cross-check, and of the credit notes that invoices speak of.
--   unexplained_figures bigint: Of them, those that differ without a known reason.
--   reconciliation_status text: Rows and figures beside the service's: short (rows are missing), more (rows that were deleted at the source, or are newer than the total), differs (the rows are there, but figures are unexplained), equal, or not known (nothing was there to compare with).
--   failed_checks bigint: Checks of the table, or of a table of its lists, whose last result has failing rows.
--   failed_error_checks bigint: Those that are errors.
--   failed_rows bigint: Rows that they name.
with
-- Include: resource_table

-- Include: held_rows

-- Include: snapshot_total

named as (
  select 'requisitions' as resource, count(*) as expected_rows
  from (
    select a.company_id, a.requisition_reference from star.fact_assignment as a
    where not a.is_deleted and a.requisition_reference is not null
    union
    select m.company_id, m.requisition_reference from star.fact_recruitment_metric_row as m
    where not m.is_deleted and m.requisition_reference is not null
    except
    select r.company_id, r.reference from star.fact_requisition as r where r.is_deleted
    union
    select r.company_id, r.reference from star.fact_requisition as r where not r.is_deleted
  ) as requisition
  union all
  select 'assignments' as resource, count(*) as expected_rows
  from (
    select t.assignment_id from star.fact_timesheet as t where not t.is_deleted and t.assignment_id is not null
    except
    select a.assignment_id from star.fact_assignment as a where a.is_deleted
    union
    select a.assignment_id from star.fact_assignment as a where not a.is_deleted
  ) as assignment
  union all
  select 'purchase-orders' as resource, count(distinct coalesce(nullif(po.purchase_order_reference_key, '-1'), po.purchase_order_id)) as expected_rows
  from star.dim_purchase_order as po
  where not po.is_deleted and po.purchase_order_id <> '-1'
),

expected as (
  select held.resource, held.total + held.live_rows - held.then_rows as expected_rows
  from held
  where held.total is not null
  union all
  select snapshot_total.resource, snapshot_total.total as expected_rows from snapshot_total
  union all
  select named.resource, named.expected_rows from named
  union all
  select held.resource, held.live_rows + held.stub_rows as expected_rows
  from held
  where held.resource in ('trades', 'rates')
),

-- What the service computes of its records, beside the same of ours: metrics, and the credit notes that an invoice speaks of.
figure as (
  select case c.metric when 'timeToFill' then 'requisitions' else 'timesheets' end as resource, c.verdict = 'unexplained' as is_off
  from ops.crosscheck as c
  union all
  select 'credit-notes' as resource, abs(coalesce(i.credit_notes, 0) - coalesce(credited.value, 0)) > 0.05 as is_off
  from star.fact_invoice as i
  left join (
    select n.invoice_id, sum(coalesce(n.subtotal, 0)) as value
    from star.fact_credit_note as n
    where not n.is_deleted
    group by n.invoice_id
  ) as credited on credited.invoice_id = i.invoice_id
  where not i.is_deleted and (i.credit_notes <> 0 or credited.value <> 0)
),

compared as (
  select figure.resource, count(*) as compared_figures, sum(case when figure.is_off then 1 else 0 end) as unexplained_figures
  from figure
  group by figure.resource
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
    t.resource,
    count(distinct c.check_name) as failed_checks,
    count(distinct case when c.severity = 'error' then c.check_name end) as failed_error_checks,
    sum(c.failed_rows) as failed_rows
  from ops.check_result as c
  inner join last_result as l on l.check_name = c.check_name and l.checked_at = c.checked_at
  inner join resource_table as t on t.table_name = c.subject
  where c.failed_rows > 0
  group by t.resource
)

select
  held.resource,
  own.table_name,
  held.row_count,
  held.live_rows,
  held.stub_rows,
  held.deleted_rows,
  held.max_source_updated_at,
  held.last_loaded_at,
  read.last_read_at,
  cast(extract(epoch from (:as_of - read.last_read_at)) as double precision) / 3600.0 as freshness_hours,
  expected.expected_rows,
  cast(held.live_rows as double precision) / nullif(cast(expected.expected_rows as double precision), 0) as coverage_share,
  coalesce(compared.compared_figures, 0) as compared_figures,
  coalesce(compared.unexplained_figures, 0) as unexplained_figures,
  case
    when held.live_rows < expected.expected_rows then 'short'
    when held.live_rows > expected.expected_rows then 'more'
    when compared.unexplained_figures > 0 then 'differs'
    when expected.expected_rows is null and compared.resource is null then 'not known'
    else 'equal'
  end as reconciliation_status,
  coalesce(failed.failed_checks, 0) as failed_checks,
  coalesce(failed.failed_error_checks, 0) as failed_error_checks,
  coalesce(failed.failed_rows, 0) as failed_rows
from held
inner join resource_table as own on own.resource = held.resource and own.is_own
left join expected on expected.resource = held.resource
left join compared on compared.resource = held.resource
left join read on read.resource = held.resource
left join failed on failed.resource = held.resource
