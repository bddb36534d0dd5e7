-- Counts rejections, cancellations and ended assignments by the stage they happened at, and whether a reason was given. The
-- text of a reason may name a person and is in pii.text, for readers of personal data.
-- Grain: one row per kind of loss, stage, company, agency and month.
-- Question: What do we lose, and at which point?
-- Assumption: a rejected worker counts in the month in which the worker was put forward, as the service gives no day of
-- rejection; a cancelled requisition in the month of its cancellation, else of its creation; an assignment in the month of
-- its first day, or of its last day if it was ended. An assignment in the state ended, not completed, is a
-- loss whatever day was planned; ended_early of mart.supplier_scorecard compares the last day with the planned one.
-- Sources: star.fact_assignment, star.fact_requisition, star.fact_submission, star.fact_submission_stage
-- Measures: sum losses, with_reason; ratio reason_ratio = with_reason / losses
-- Columns:
--   loss text key: worker rejected, requisition cancelled, assignment cancelled, or assignment ended: in the
--     state ended, early or not.
--   stage text key: For a rejected worker, the stage reached, or not tracked; for a requisition, approved or not approved;
--     for an assignment, its engagement type or none.
--   company_id text key: The hiring company; '-1' when the record names none.
--   agency_id text key: The agency; '-1' for requisitions, and when the record names none.
--   month_start_date date key: First day of the month, in the reporting zone.
--   losses integer: Placements that were lost.
--   with_reason integer: Losses with a written reason; 0 for cancelled assignments, which show none.
--   reason_ratio double precision: with_reason / losses.
with
-- Include: engagement

rejected as (
  select
    'worker rejected' as loss,
    coalesce(max(g.current_stage), 'not tracked') as stage,
    r.company_id,
    s.agency_id,
    coalesce(s.submitted_at, r.created_at) as lost_at,
    max(coalesce(s.rejection_reason_length, 0)) > 0 as has_reason
  from star.fact_submission as s
  inner join star.fact_requisition as r on r.requisition_id = s.requisition_id and not r.is_deleted
  left join star.fact_submission_stage as g
    on g.requisition_id = s.requisition_id and g.agency_id = s.agency_id and g.worker_id = s.worker_id and not g.is_deleted
  where not s.is_deleted and s.is_rejected
  group by s.submission_key, r.company_id, s.agency_id, s.submitted_at, r.created_at
),

loss as (
  select
    x.loss,
    x.stage,
    x.company_id,
    x.agency_id,
    :day(x.lost_at) as lost_date,
    x.has_reason
  from rejected as x
  union all
  select
    'requisition cancelled' as loss,
    case when r.approved_at is null then 'not approved' else 'approved' end as stage,
    r.company_id,
    '-1' as agency_id,
    :day(coalesce(r.cancelled_at, r.created_at)) as lost_date,
    coalesce(r.cancellation_reason_length, 0) > 0 as has_reason
  from star.fact_requisition as r
  where not r.is_deleted and r.status = 'cancelled'
  union all
  select
    'assignment cancelled' as loss,
    coalesce(a.rate_type, 'none') as stage,
    a.company_id,
    a.agency_id,
    a.start_date as lost_date,
    false as has_reason
  from star.fact_assignment as a
  where not a.is_deleted and a.status = 'cancelled'
  union all
  select
    'assignment ended' as loss,
    coalesce(e.rate_type, 'none') as stage,
    e.company_id,
    e.agency_id,
    e.last_date as lost_date,
    coalesce(e.ended_reason_length, 0) > 0 as has_reason
  from engagement as e
  where e.status = 'ended'
)

select
  l.loss,
  l.stage,
  l.company_id,
  l.agency_id,
  cast(date_trunc('month', l.lost_date) as date) as month_start_date,
  count(*) as losses,
  count(*) filter (where l.has_reason) as with_reason,
  cast(count(*) filter (where l.has_reason) as double precision) / count(*) as reason_ratio
from loss as l
where l.lost_date is not null
group by 1, 2, 3, 4, 5
