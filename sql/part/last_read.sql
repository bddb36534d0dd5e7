-- When each resource that a run has tried to read was last read; for one that never was, when it first failed.
last_read as (
  select rr.resource, coalesce(
    max(case when rr.state = 'done' then coalesce(r.finished_at, r.started_at) end),
    min(case when rr.state in ('failed', 'incomplete', 'stopped') then r.started_at end)
  ) as read_at
  from ops.run_resource as rr
  inner join ops.run as r on r.run_id = rr.run_id
  group by rr.resource
)
