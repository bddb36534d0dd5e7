-- In mart.stage_duration, who came to a stage left it, stands there or ended there.
-- Severity: error
-- Sources: mart.stage_duration
-- Next: look for a worker whose stages are held twice with muster check keys_unique; yesterday's rows stay until it is right
select m.stage || '|' || m.agency_id || '|' || m.project_id || '|' || cast(m.month_start_date as text) as record
from mart.stage_duration as m
where m.entries <> m.exits + m.open_now + m.ended_here or m.measured_exits > m.exits
