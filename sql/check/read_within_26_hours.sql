-- Every resource that a run has tried to read was read within the last 26 hours.
-- Severity: warn
-- Sources: ops.run_resource, ops.run
-- Next: run muster status: the nightly run was late, failed or stopped at its budget
with
-- Include: last_read

select last_read.resource || ', ' || cast(last_read.read_at as text) as record
from last_read
where last_read.read_at < :now - interval '26 hours'
