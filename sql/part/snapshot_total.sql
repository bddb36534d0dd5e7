-- The total that the service gave in the newest accepted snapshot of each scope, added up: `snapshot_total`. Reads the
-- part resource.
newest_snapshot as (
  select
    w.resource,
    w.last_total,
    row_number() over (partition by w.resource, w.scope order by w.started_at desc, w.scan_id desc) as place
  from ops.scan as w
  inner join resource on resource.resource = w.resource and resource.is_total_of_snapshots
  -- A snapshot without pages copies one company and has no total.
  where w.kind = 'snapshot' and w.state = 'accepted' and w.pages > 0
),

snapshot_total as (
  select n.resource, sum(n.last_total) as total
  from newest_snapshot as n
  where n.place = 1
  group by n.resource
),
