-- A list has all the rows that the service counted when it was last read completely, except for a few created during the
-- read.
-- Severity: error
-- Sources: every resource, star.bridge_trade_rate, ops.watermark
-- Next: run muster backfill for the resource: the service has rows that are not stored here
with
-- Include: resource

-- Include: stored_rows

short as (
  select stored.resource, stored.total, stored.then_rows
  from stored
  where stored.total - stored.then_rows > greatest(5, floor(stored.total / 1000.0))
)

select short.resource || ', ' || cast(short.then_rows as text) || ' of ' || cast(short.total as text) as record,
  resource.table_name as subject
from short
inner join resource on resource.resource = short.resource
