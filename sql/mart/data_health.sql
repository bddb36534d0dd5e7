-- How complete and how fresh the records of each resource are, and which checks they fail.
-- Grain: one row per resource of the service, with the table of its records.
-- Question: Can I trust today's numbers?
-- Assumption: expected_rows is the total that the service reported when the list was last read completely. For records
-- without a list it is the number of records that others refer to. The number of credit notes is unknown, but invoices give
-- their sum. Time to fill compares requisitions, workers over hours compares timesheets.
-- Sources: every resource, star.bridge_trade_rate, ops.watermark, ops.scan, ops.run, ops.run_resource, ops.sweep, ops.unread, ops.discovered,
--   ops.key_access, ops.quarantine, ops.schema_drift, ops.accepted_drift, ops.evidence, ops.deletion, ops.check_result,
--   ops.crosscheck
-- Measures: sum row_count, live_rows, inferred_rows, deleted_rows, compared_figures, unexplained_figures,
--   failed_checks, failed_error_checks, failed_rows, quarantined_records, refused_records, withheld_deletions,
--   deletion_candidates; sum expected_rows within resource; ratio coverage_share = live_rows / expected_rows; max
--   freshness_hours
-- Columns:
--   resource text key: Name of the resource, as on the command line.
--   table_name text: Table of its records, with the schema.
--   row_count bigint: All rows, with deleted records and inferred members.
--   live_rows bigint: Rows of records that were read and are not deleted; the numerator of coverage_share.
--   inferred_rows bigint: Inferred members: rows of records that others refer to and that were not read.
--   deleted_rows bigint: Rows of records that are missing at the source.
--   max_source_updated_at timestamptz: When a record last changed at the source.
--   last_loaded_at timestamptz: When a row last changed in the warehouse.
--   last_read_at timestamptz: End of the last run that read the resource without failing, or its start where its process died; empty when none did.
--   freshness_hours double precision: Hours between that and the end of the last run that read anything.
--   completeness text: Whether it is complete, in the word that muster status shows too: complete (its list was read to the end
--     and its last scan accepted), incomplete (records may be missing or deleted ones may remain), not read yet, not for
--     this key, or no total to compare with (records read by id: an unknown id would not be missed).
--   is_complete boolean: Whether completeness is complete; false for incomplete, empty for every other word.
--   incomplete_reason text: Why it is incomplete, with the records seen and expected where they were counted.
--   expected_rows bigint: Rows that should be stored; the denominator of coverage_share; empty when unknown.
--   coverage_share double precision: Share of the expected rows that are stored: live_rows divided by expected_rows.
--   compared_figures bigint: Figures of the service that were compared with ours: metrics of the last crosscheck, and the credit notes of each invoice.
--   unexplained_figures bigint: Compared figures that differ without a known reason.
--   reconciliation_status text: Result of comparing rows and figures with the service: short (rows are missing), more (rows were deleted at the source, or are newer than the total), differs (no row is missing, but figures are unexplained), equal, or not known (nothing to compare with).
--   failed_checks bigint: Checks of the table, or of a table of its lists, that failed when they last ran.
--   failed_error_checks bigint: Failed checks with the severity error.
--   failed_rows bigint: Rows that failed_checks found.
--   quarantined_records bigint: Records that could not be loaded, in this or any later version.
--   refused_records bigint: Known records that the service refuses to give by their id.
--   withheld_deletions bigint: Records that the last sweep did not find and did not delete, because deleting so many was
--     implausible.
--   deletion_candidates bigint: Records that seem to be missing at the source, with too little evidence yet to delete them.
with
-- Include: resource

-- Include: stored_rows

-- Include: snapshot_total

-- Include: incomplete_resource

-- Include: completeness

-- Include: refused_id

lacking as (
  select n.resource, string_agg(n.reason, '; ' order by n.reason) as reason
  from incomplete_resource as n
  group by n.resource
),

expected as (
  select stored.resource, stored.total + stored.live_rows - stored.then_rows as expected_rows
  from stored
  where stored.total is not null
  union all
  select snapshot_total.resource, snapshot_total.total as expected_rows from snapshot_total
  -- For each resource with expected records:
  union all select {resource} as resource, count(*) as expected_rows from ({expected}) as record having {resource} not in (select resource from stored where total is not null)
),

-- Include: credited_invoice

-- Figures that the service computes from its records, compared with ours: its metrics, and the credit notes of an invoice.
figure as (
  select resource.resource, c.verdict = 'unexplained' as is_off
  from ops.crosscheck as c
  inner join resource on resource.metric = c.metric
  union all
  select 'credit-notes' as resource, abs(c.given - c.held) > 0.05 as is_off
  from credited_by_basis as c
  where c.given <> 0 or c.held <> 0
),

compared as (
  select figure.resource, count(*) as compared_figures, sum(case when figure.is_off then 1 else 0 end) as unexplained_figures
  from figure
  group by figure.resource
),

read as (
  select rr.resource, max(coalesce(r.finished_at, r.started_at)) as last_read_at
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

-- Every table that records of a resource fill, those of their lists included.
resource_table as (
  select named.resource, named.table_name
  from (values
    -- For each table of a resource:
    ({resource}, {table_name}),
  ) as named (resource, table_name)
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
),

in_quarantine as (
  select q.resource, count(distinct coalesce(q.record_id, q.payload)) as quarantined_records
  from ops.quarantine as q
  where q.resolved_at is null
  group by q.resource
),

refused as (
  select r.resource, sum(r.records) as refused_records
  from refused_id as r
  group by r.resource
),

candidate as (
  select e.resource, count(distinct e.record_id) as deletion_candidates
  from ops.evidence as e
  where e.void_at is null and not exists (
    select 1 from ops.deletion as d
    where d.resource = e.resource and d.record_id = e.record_id and d.undeleted_at is null
  )
  group by e.resource
)

select
  stored.resource,
  own.table_name,
  stored.row_count,
  stored.live_rows,
  stored.inferred_rows,
  stored.deleted_rows,
  stored.max_source_updated_at,
  stored.last_loaded_at,
  read.last_read_at,
  cast(extract(epoch from (:as_of - read.last_read_at)) as double precision) / 3600.0 as freshness_hours,
  completeness.word as completeness,
  case completeness.word when 'incomplete' then false when 'complete' then true end as is_complete,
  lacking.reason as incomplete_reason,
  expected.expected_rows,
  cast(stored.live_rows as double precision) / nullif(cast(expected.expected_rows as double precision), 0) as coverage_share,
  coalesce(compared.compared_figures, 0) as compared_figures,
  coalesce(compared.unexplained_figures, 0) as unexplained_figures,
  case
    when stored.live_rows < expected.expected_rows then 'short'
    when stored.live_rows > expected.expected_rows then 'more'
    when compared.unexplained_figures > 0 then 'differs'
    when expected.expected_rows is null and compared.resource is null then 'not known'
    else 'equal'
  end as reconciliation_status,
  coalesce(failed.failed_checks, 0) as failed_checks,
  coalesce(failed.failed_error_checks, 0) as failed_error_checks,
  coalesce(failed.failed_rows, 0) as failed_rows,
  coalesce(in_quarantine.quarantined_records, 0) as quarantined_records,
  coalesce(refused.refused_records, 0) as refused_records,
  coalesce(last_sweep.missing, 0) as withheld_deletions,
  coalesce(candidate.deletion_candidates, 0) as deletion_candidates
from stored
inner join resource as own on own.resource = stored.resource
inner join completeness on completeness.resource = stored.resource
left join expected on expected.resource = stored.resource
left join compared on compared.resource = stored.resource
left join read on read.resource = stored.resource
left join lacking on lacking.resource = stored.resource
left join failed on failed.resource = stored.resource
left join in_quarantine on in_quarantine.resource = stored.resource
left join refused on refused.resource = stored.resource
left join last_sweep on last_sweep.resource = stored.resource and last_sweep.state = 'implausible'
left join candidate on candidate.resource = stored.resource
