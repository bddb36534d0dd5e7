-- Standard and overtime hours of a timelog add up to all of its hours.
-- Severity: warn
-- Sources: star.fact_timelog
-- Next: look the timesheet up in the service and report it; do not rely on the overtime of that shift
select l.timelog_id as record, l.timesheet_id
from star.fact_timelog as l
where not l.is_deleted and abs(l.total_hours - (coalesce(l.standard_hours, 0) + coalesce(l.overtime_hours, 0))) > 0.01
