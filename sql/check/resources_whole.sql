-- Every resource that a run has tried to read is whole: read completely, its last scan accepted, few records in quarantine.
-- Severity: error
-- Sources: ops.run_resource, ops.run, ops.scan, ops.watermark, ops.sweep, ops.unread, ops.discovered, ops.key_access,
--   ops.quarantine
-- Next: run muster sync, or muster sweep where a sweep is named: rows are missing until it is accepted; where too many records are in quarantine, have them mended at the source; muster status tells more
with
-- Include: resource

-- Include: not_whole

found as (
  select not_whole.resource || ', ' || not_whole.reason as record, resource.table_name as subject
  from not_whole
  inner join resource on resource.resource = not_whole.resource
)

select found.record, found.subject from found
