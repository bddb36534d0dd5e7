-- What the service counted in the newest accepted window of each scope, for lists that are read whole: `snapshot_total`.
newest_window as (
  select
    w.resource,
    w.greatest_total,
    row_number() over (partition by w.resource, w.scope order by w.started_at desc, w.window_id desc) as place
  from ops.window as w
  where w.kind = 'snapshot' and w.state = 'accepted' and w.resource <> 'metric-rows'
),

snapshot_total as (
  select n.resource, sum(n.greatest_total) as total
  from newest_window as n
  where n.place = 1
  group by n.resource
),
