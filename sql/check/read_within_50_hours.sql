-- Every resource that a run has tried to read was read within the last 50 hours.
-- Severity: error
-- Sources: ops.run_resource, ops.run
-- Next: run muster sync now, then muster runs to see why two nightly runs failed; until then figures are out of date
with
-- Include: last_read

select last_read.resource || ', ' || cast(last_read.read_at as text) as record
from last_read
where last_read.read_at < :now - interval '50 hours'
