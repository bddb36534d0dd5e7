-- Every resource that a run has tried to read is complete: read to its end, its last scan accepted, few records in
-- quarantine.
-- Severity: error
-- Sources: ops.run_resource, ops.run, ops.scan, ops.watermark, ops.sweep, ops.unread, ops.discovered, ops.key_access,
--   ops.quarantine, ops.schema_drift, ops.accepted_drift
-- Next: run muster sync, or muster sweep where a sweep is named: rows are missing until it is accepted; where too many
-- records are in quarantine, have them fixed at the source; muster status shows the details
with
-- Include: resource

-- Include: incomplete_resource

found as (
  select incomplete_resource.resource || ', ' || incomplete_resource.reason as record, resource.table_name as subject
  from incomplete_resource
  inner join resource on resource.resource = incomplete_resource.resource
)

select found.record, found.subject from found
