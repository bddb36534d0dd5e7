-- mart.lost_placements counts every rejected worker and every ended assignment once, and no more reasons than losses.
-- Severity: error
-- Sources: mart.lost_placements, star.fact_assignment, star.fact_requisition, star.fact_submission
-- Next: look for a requisition that is stored twice; the previous rows stay until the check passes
select 'rejected workers ' || cast(m.n as text) || ' of ' || cast(s.n as text) as record
from (
  select coalesce(sum(x.losses), 0) as n from mart.lost_placements as x where x.loss = 'worker rejected'
) as m
cross join (
  select count(*) as n
  from star.fact_submission as x
  inner join star.fact_requisition as r on r.requisition_id = x.requisition_id and not r.is_deleted
  where not x.is_deleted and x.is_rejected
    and (x.submitted_at is not null or r.created_at is not null)
) as s
where m.n <> s.n
union all
select 'ended assignments ' || cast(m.n as text) || ' of ' || cast(s.n as text) as record
from (
  select coalesce(sum(x.losses), 0) as n from mart.lost_placements as x where x.loss = 'assignment ended'
) as m
cross join (
  select count(*) as n
  from star.fact_assignment as x
  where not x.is_deleted and x.status = 'ended'
    and (x.ended_at is not null or x.completed_date is not null or x.end_date is not null)
) as s
where m.n <> s.n
union all
select x.loss || ' ' || x.stage || ' ' || x.company_id || ' ' || x.agency_id as record
from mart.lost_placements as x
where x.with_reason > x.losses
