-- mart.requisition_funnel counts every worker put forward or tracked for a live requisition, and every one assigned, once.
-- Severity: error
-- Sources: mart.requisition_funnel, star.fact_requisition, star.fact_requisition_agency, star.fact_submission,
--   star.fact_submission_stage
-- Next: look for a requisition that is stored twice; the previous rows stay until the check passes
with live as (
  select r.requisition_id from star.fact_requisition as r where not r.is_deleted
),

counted as (
  select
    (select count(*) from star.fact_submission as s inner join live on live.requisition_id = s.requisition_id where not s.is_deleted) as submissions,
    (select count(*) from star.fact_submission_stage as s inner join live on live.requisition_id = s.requisition_id where not s.is_deleted) as submitted,
    (select coalesce(sum(a.assigned), 0) from star.fact_requisition_agency as a inner join live on live.requisition_id = a.requisition_id where not a.is_deleted) as filled
)

select cast(m.submissions as text) || ' of ' || cast(c.submissions as text) || ' submissions, ' || cast(m.submitted as text) || ' of '
  || cast(c.submitted as text) || ' tracked, ' || cast(m.filled as text) || ' of ' || cast(c.filled as text) || ' assigned' as record
from (
  select coalesce(sum(x.submissions), 0) as submissions, coalesce(sum(x.submitted), 0) as submitted, coalesce(sum(x.filled), 0) as filled
  from mart.requisition_funnel as x
) as m
cross join counted as c
where m.submissions <> c.submissions or m.submitted <> c.submitted or m.filled <> c.filled
