-- A requisition counts as many assigned workers as it has assignments that are not cancelled.
-- Severity: warn
-- Sources: star.fact_requisition, star.fact_assignment
-- Next: compare with muster get; assignments become known only through timesheets and events, and muster discover adds
-- others by id
select r.requisition_id as record
from star.fact_requisition as r
left join (
  select a.requisition_id, count(*) as assigned
  from star.fact_assignment as a
  where not a.is_deleted and a.status <> 'cancelled'
  group by a.requisition_id
) as stored on stored.requisition_id = r.requisition_id
where not r.is_deleted and coalesce(r.assigned_total, 0) <> coalesce(stored.assigned, 0)
