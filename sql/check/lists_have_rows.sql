-- The service returns no empty list where it returned rows before.
-- Severity: warn
-- Sources: every resource, star.bridge_trade_rate, ops.watermark
-- Next: compare with the application; the stored rows stay until the list has rows again, or until muster sweep with --max-deletions
-- confirms that they are deleted
with
-- Include: resource

-- Include: stored_rows

found as (
  select stored.resource || ', ' || cast(stored.live_rows as text) || ' stored' as record, resource.table_name as subject
  from stored
  inner join ops.watermark as w on w.resource = stored.resource and w.empty_since is not null
  inner join resource on resource.resource = stored.resource
  where stored.live_rows > 0
)

select found.record, found.subject from found
