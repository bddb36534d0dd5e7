-- Known records that the service does not give by their ids: `refused_id`, a row for each resource and reason. Where another
-- kind of key lists them, the list tells what there is.
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
