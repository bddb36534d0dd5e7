-- The hours of mart.assignment_outcome equal those of the approved timesheets of its assignments, an assignment without
-- hours alone is a no-show, and each assignment that took place has its row.
-- Severity: error
-- Sources: mart.assignment_outcome, star.fact_assignment, star.fact_timesheet
-- Next: look for an assignment that is stored twice; the previous rows stay until the check passes
with
-- Include: approved_timesheet

select m.assignment_id as record
from mart.assignment_outcome as m
left join (
  select t.assignment_id, sum(t.net_hours) as net_hours, max(t.net_hours) as most_hours
  from approved_timesheet as t
  group by t.assignment_id
) as s on s.assignment_id = m.assignment_id
where m.net_hours <> coalesce(s.net_hours, 0) or (m.no_shows > 0 and s.most_hours > 0)
union all
select a.assignment_id as record
from star.fact_assignment as a
left join mart.assignment_outcome as m on m.assignment_id = a.assignment_id
where not a.is_deleted and coalesce(a.status, '') not in ('pending', 'cancelled') and m.assignment_id is null
