-- A list has exactly the rows that the service counted when it was last read completely; later rows do not count.
-- Severity: warn
-- Sources: every resource, star.bridge_trade_rate, ops.watermark, ops.scan
-- Next: run muster sync, then muster sweep: rows are missing if some were created while the list was read; there are too
-- many if some were deleted at the source
with
-- Include: resource

-- Include: stored_rows

-- Include: snapshot_total

list as (
  select resource, total, then_rows from stored
  union all
  select stored.resource, s.total, stored.live_rows as then_rows
  from stored
  inner join snapshot_total as s on s.resource = stored.resource
)

select list.resource || ', ' || cast(list.then_rows as text) || ' of ' || cast(cast(list.total as bigint) as text) as record,
  resource.table_name as subject
from list
inner join resource on resource.resource = list.resource
where list.total <> list.then_rows
