-- Known records that the service refuses to return by id: `refused_id`, one row per resource and reason. Where the key can
-- list the records, the list decides.
refused_id as (
  select d.resource, d.reason, count(*) as records
  from ops.discovered as d
  where d.state = 'refused' and d.record_id not like 'md5 %' and d.reason not like 'it is another name of %'
    and not exists (
      select 1 from ops.key_access as a
      where a.resource = d.resource and a.way = 'list' and a.state = 'readable'
    )
  group by d.resource, d.reason
),
