-- One word per resource on how complete it is: `completeness`. Everything that says whether a resource is complete shows this
-- word. Reads the parts resource and incomplete_resource.
completeness as (
  select r.resource,
    case
      when lacking.resource is not null then 'incomplete'
      when refused.resource is not null then 'not for this key'
      when listed.resource is not null then 'complete'
      when fetched.resource is not null then 'no total to compare with'
      else 'not read yet'
    end as word
  from resource as r
  left join (select distinct n.resource from incomplete_resource as n) as lacking on lacking.resource = r.resource
  left join (
    select a.resource
    from ops.key_access as a
    group by a.resource
    having sum(case when a.state in ('refused', 'not for this kind of key') then 0 else 1 end) = 0
  ) as refused on refused.resource = r.resource
  left join (
    select distinct s.resource
    from ops.scan as s
    where s.state = 'accepted' and s.kind in ('backfill', 'incremental', 'snapshot')
  ) as listed on listed.resource = r.resource
  -- Records read by id: an unknown id would not be missed.
  left join (
    select distinct o.resource
    from ops.run_resource as o
    inner join ops.run as n on n.run_id = o.run_id
    where n.command = 'sync' and o.state = 'done'
  ) as fetched on fetched.resource = r.resource
),
