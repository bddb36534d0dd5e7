-- mart.approval_cycle has every stage of the approval of a live requisition, and at most one of them is pending.
-- Severity: error
-- Sources: mart.approval_cycle, star.fact_requisition, star.fact_requisition_approval_stage
-- Next: look for a requisition that is stored twice; the previous rows stay until the check passes
select coalesce(m.requisition_approval_stage_key, s.requisition_approval_stage_key) as record
from mart.approval_cycle as m
full join (
  select a.requisition_approval_stage_key
  from star.fact_requisition_approval_stage as a
  inner join star.fact_requisition as r on r.requisition_id = a.requisition_id
  where not a.is_deleted and not r.is_deleted
) as s on s.requisition_approval_stage_key = m.requisition_approval_stage_key
where m.requisition_approval_stage_key is null or s.requisition_approval_stage_key is null
union all
select m.requisition_id as record
from mart.approval_cycle as m
where m.is_pending
group by m.requisition_id
having count(*) > 1
