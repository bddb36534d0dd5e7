-- The hours of the timelogs of a timesheet add up to its net hours.
-- Severity: warn
-- Sources: star.fact_timesheet, star.fact_timelog
-- Next: look the timesheet up in the service; if it shows the same, report the hours to it, else run muster replay
select t.timesheet_id as record
from star.fact_timesheet as t
inner join (
  select l.timesheet_id, sum(coalesce(l.total_hours, 0)) as hours
  from star.fact_timelog as l
  where not l.is_deleted
  group by l.timesheet_id
) as shift on shift.timesheet_id = t.timesheet_id
where not t.is_deleted and abs(t.net_hours - shift.hours) > 0.01
