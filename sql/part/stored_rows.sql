-- Counts the rows of each resource in one pass: `stored`. `total` is the service's count when a list was last read
-- completely. `then_rows` are the rows of that time: rows created or deleted since do not count against the list. A row
-- created before and loaded later may be in the total: its record was in quarantine, or was lost here and read again.
-- `then_rows` includes such rows as far as the total has room. Reads the part resource.

-- One extra row for each resource, so that a table without rows appears too.
resource_row as not materialized (
  select resource, 0 as n, false as is_inferred, cast(null as boolean) as is_deleted, cast(null as timestamptz) as deleted_at,
    cast(null as timestamptz) as source_updated_at, cast(null as timestamptz) as first_loaded_at,
    cast(null as timestamptz) as loaded_at, cast(null as timestamptz) as created_at
  from resource
  -- For each resource:
  union all select {resource}, 1, {is_inferred}, is_deleted, deleted_at, source_updated_at, first_loaded_at, loaded_at, {created_at} from {table} where {is_record}
),

list_total as (
  select
    w.resource,
    w.remembered_total as total,
    case when resource.is_total_of_backfill then w.backfilled_at else w.moved_at end as given_at
  from ops.watermark as w
  inner join resource on resource.resource = w.resource
  where w.backfilled_at is not null and w.remembered_total is not null
),

counted as (
  select
    x.resource,
    max(list_total.total) as total,
    sum(x.n) as row_count,
    sum(case when not x.is_deleted and not x.is_inferred then 1 else 0 end) as live_rows,
    sum(case when x.is_inferred then 1 else 0 end) as inferred_rows,
    sum(case when x.is_deleted then 1 else 0 end) as deleted_rows,
    sum(case
      when x.n = 1 and not x.is_inferred and x.first_loaded_at <= list_total.given_at and (not x.is_deleted or x.deleted_at > list_total.given_at) then 1
      else 0
    end) as loaded_rows,
    sum(case
      when x.n = 1 and not x.is_inferred and x.first_loaded_at > list_total.given_at and x.created_at <= list_total.given_at
        and (not x.is_deleted or x.deleted_at > list_total.given_at) then 1
      else 0
    end) as later_rows,
    max(x.source_updated_at) as max_source_updated_at,
    max(x.loaded_at) as last_loaded_at
  from resource_row as x
  left join list_total on list_total.resource = x.resource
  group by x.resource
),

stored as (
  select c.resource, c.total, c.row_count, c.live_rows, c.inferred_rows, c.deleted_rows,
    greatest(c.loaded_rows, least(c.loaded_rows + c.later_rows, coalesce(c.total, 0))) as then_rows,
    c.max_source_updated_at, c.last_loaded_at
  from counted as c
),
