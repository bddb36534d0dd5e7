-- The service returns every known record by its id, where the key may read such records.
-- Severity: warn
-- Sources: ops.discovered, ops.key_access
-- Next: if the key should see them, have its companies and scopes widened; Muster asks for them again after 1, 2, 4 and at
-- most 30 days, and at once with another key
with
-- Include: resource

-- Include: refused_id

found as (
  select r.resource || ', ' || cast(r.records as text) || ' refused: ' || r.reason as record, resource.table_name as subject
  from refused_id as r
  inner join resource on resource.resource = r.resource
  where not exists (select 1 from ops.key_access as a where a.resource = r.resource)
    or exists (
      select 1 from ops.key_access as a
      where a.resource = r.resource and a.state not in ('refused', 'not for this kind of key')
    )
)

select found.record, found.subject from found
