-- Everything that a run has tried to read from the service was read in the last 50 hours.
-- Severity: error
-- Sources: ops.run_resource, ops.run
-- Next: run muster sync now, and muster runs to see why two nights went by; figures are older than they look
select last_read.resource || ', ' || cast(last_read.read_at as text) as record
from (
  select rr.resource, coalesce(
    max(case when rr.state = 'done' then r.finished_at end),
    min(case when rr.state in ('failed', 'stopped') then r.started_at end)
  ) as read_at
  from ops.run_resource as rr
  inner join ops.run as r on r.run_id = rr.run_id
  group by rr.resource
) as last_read
where last_read.read_at < :now - interval '50 hours'
