-- No list that had rows is shown as empty by the service.
-- Severity: warn
-- Sources: every resource, ops.watermark
-- Next: compare with the application; the stored rows stay until the list has rows again, or muster sweep with --most proves that they are deleted
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
