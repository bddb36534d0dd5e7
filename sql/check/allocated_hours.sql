-- A timelog allocates no more hours to cost codes than it has.
-- Severity: warn
-- Sources: star.fact_timelog_cost_code, star.fact_timelog
-- Next: look the timesheet up in the service; if it shows the same, have the cost codes corrected there, else run muster replay
select l.timelog_id as record, l.timesheet_id
from star.fact_timelog as l
inner join (
  select a.timelog_id, a.timesheet_id, sum(coalesce(a.hours, 0)) as hours
  from star.fact_timelog_cost_code as a
  where not a.is_deleted
  group by a.timelog_id, a.timesheet_id
) as allocated on allocated.timelog_id = l.timelog_id and allocated.timesheet_id = l.timesheet_id
where not l.is_deleted and allocated.hours > l.total_hours + 0.01
