-- In mart.stage_duration, every worker who entered a stage left it, is still there or ended there.
-- Severity: error
-- Sources: mart.stage_duration
-- Next: look for a worker whose stages are stored twice with muster check keys_unique; the previous rows stay until the check passes
select m.stage || '|' || m.agency_id || '|' || m.project_id || '|' || cast(m.month_start_date as text) as record
from mart.stage_duration as m
where m.entries <> m.exits + m.open_now + m.ended_here or m.measured_exits > m.exits
