-- How far the workers got that an agency put forward for a requisition. A worker who reached a stage counts in all earlier
-- stages. An offer that the worker rejected counts as made. Counts can be summed over any group; divide the sums for a
-- ratio. Companies that do not track stages show submissions only.
-- Grain: one row per requisition and agency that it was offered to.
-- Question: Where do candidates drop out?
-- Sources: star.fact_requisition, star.fact_requisition_agency, star.fact_stage_event, star.fact_submission, star.fact_submission_stage
-- Measures: sum offered, filled, submissions, submitted, cv_reviewed, interviewed, offer_made, offer_accepted,
--   assigned, rejected, offers_rejected, missing_compliance; ratio reviewed_ratio = cv_reviewed / submitted; ratio
--   interviewed_ratio = interviewed / cv_reviewed; ratio offer_ratio = offer_made / interviewed; ratio accepted_ratio =
--   offer_accepted / offer_made; ratio assigned_ratio = assigned / offer_accepted; ratio submitted_to_assigned_ratio =
--   assigned / submitted
-- Columns:
--   requisition_id text key: The requisition.
--   agency_id text key: The agency; '-1' when the record names none.
--   requisition_reference text: Its reference.
--   requisition_status text: State of the requisition.
--   company_id text: The hiring company; '-1' when the record names none.
--   project_id text: The project; '-1' when the record names none.
--   trade_id text: The trade; '-1' when the record names none.
--   requisition_created_date date: Day on which the requisition was created, in the reporting zone.
--   offered integer: Workers asked for from the agency.
--   filled integer: Workers of the agency assigned, as the requisition says.
--   submissions integer: Workers put forward, whether or not their stages are tracked.
--   submitted integer: Workers whose stages are tracked.
--   cv_reviewed integer: Tracked workers whose CV was reviewed, or who got further.
--   interviewed integer: Workers who were interviewed, or got further.
--   offer_made integer: Workers who got an offer, or got further.
--   offer_accepted integer: Workers who accepted it, or got further.
--   assigned integer: Workers who were assigned.
--   rejected integer: Workers whom the company rejected.
--   offers_rejected integer: Workers who rejected the offer.
--   missing_compliance integer: Workers at missing compliance.
--   reviewed_ratio double precision: cv_reviewed / submitted.
--   interviewed_ratio double precision: interviewed / cv_reviewed.
--   offer_ratio double precision: offer_made / interviewed.
--   accepted_ratio double precision: offer_accepted / offer_made.
--   assigned_ratio double precision: assigned / offer_accepted.
--   submitted_to_assigned_ratio double precision: assigned / submitted.
--   dropped_at_stage text: Stage of the service at which most workers were rejected or rejected the offer, such as
--     interviewRequested or offerRejected; the earliest on a tie.
--   dropped_at_step text: Step of this funnel that those workers had reached: submitted, cvReviewed, interviewed, offerMade, offerAccepted or assigned.
with step as (
  select submission_stage_key, requisition_id, agency_id, is_rejected, current_stage, current_stage as stage
  from star.fact_submission_stage
  where not is_deleted
  union all
  select s.submission_stage_key, s.requisition_id, s.agency_id, s.is_rejected, s.current_stage, e.stage
  from star.fact_submission_stage as s
  inner join star.fact_stage_event as e on e.submission_stage_key = s.submission_stage_key
  where not s.is_deleted and not e.is_deleted
),

-- Compliance can turn out to be missing at any time: the other steps show how far the worker got.
candidate as (
  select
    submission_stage_key,
    requisition_id,
    agency_id,
    bool_or(coalesce(is_rejected, false)) as is_rejected,
    bool_or(current_stage = 'offerRejected') as is_offer_rejected,
    bool_or(current_stage = 'missingCompliance') as is_missing_compliance,
    max(current_stage) as current_stage,
    max(case stage
      when 'assigned' then 6
      when 'offerAccepted' then 5
      when 'offerMade' then 4
      when 'offerRejected' then 4
      when 'interviewed' then 3
      when 'interviewRequested' then 2
      when 'cvReviewed' then 2
      else 1
    end) as reached
  from step
  group by submission_stage_key, requisition_id, agency_id
),

tracked as (
  select
    requisition_id,
    agency_id,
    count(*) as submitted,
    count(case when reached >= 2 then 1 end) as cv_reviewed,
    count(case when reached >= 3 then 1 end) as interviewed,
    count(case when reached >= 4 then 1 end) as offer_made,
    count(case when reached >= 5 then 1 end) as offer_accepted,
    count(case when reached >= 6 then 1 end) as assigned,
    count(case when is_rejected then 1 end) as rejected,
    count(case when is_offer_rejected then 1 end) as offers_rejected,
    count(case when is_missing_compliance then 1 end) as missing_compliance
  from candidate
  group by requisition_id, agency_id
),

dropped as (
  select
    requisition_id,
    agency_id,
    current_stage,
    max(reached) as reached,
    row_number() over (
      partition by requisition_id, agency_id order by count(*) desc, max(reached), current_stage
    ) as place
  from candidate
  where is_rejected or is_offer_rejected
  group by requisition_id, agency_id, current_stage
),

put_forward as (
  select requisition_id, agency_id, count(*) as submissions
  from star.fact_submission
  where not is_deleted
  group by requisition_id, agency_id
),

asked as (
  select requisition_id, agency_id, sum(offered) as offered, sum(assigned) as filled
  from star.fact_requisition_agency
  where not is_deleted
  group by requisition_id, agency_id
),

pair as (
  select requisition_id, agency_id from asked
  union
  select requisition_id, agency_id from put_forward
  union
  select requisition_id, agency_id from tracked
)

select
  pair.requisition_id,
  pair.agency_id,
  r.reference as requisition_reference,
  r.status as requisition_status,
  coalesce(r.company_id, '-1') as company_id,
  coalesce(r.project_id, '-1') as project_id,
  coalesce(r.trade_id, '-1') as trade_id,
  :day(r.created_at) as requisition_created_date,
  coalesce(a.offered, 0) as offered,
  coalesce(a.filled, 0) as filled,
  coalesce(p.submissions, 0) as submissions,
  coalesce(t.submitted, 0) as submitted,
  coalesce(t.cv_reviewed, 0) as cv_reviewed,
  coalesce(t.interviewed, 0) as interviewed,
  coalesce(t.offer_made, 0) as offer_made,
  coalesce(t.offer_accepted, 0) as offer_accepted,
  coalesce(t.assigned, 0) as assigned,
  coalesce(t.rejected, 0) as rejected,
  coalesce(t.offers_rejected, 0) as offers_rejected,
  coalesce(t.missing_compliance, 0) as missing_compliance,
  cast(t.cv_reviewed as double precision) / nullif(t.submitted, 0) as reviewed_ratio,
  cast(t.interviewed as double precision) / nullif(t.cv_reviewed, 0) as interviewed_ratio,
  cast(t.offer_made as double precision) / nullif(t.interviewed, 0) as offer_ratio,
  cast(t.offer_accepted as double precision) / nullif(t.offer_made, 0) as accepted_ratio,
  cast(t.assigned as double precision) / nullif(t.offer_accepted, 0) as assigned_ratio,
  cast(t.assigned as double precision) / nullif(t.submitted, 0) as submitted_to_assigned_ratio,
  d.current_stage as dropped_at_stage,
  case d.reached
    when 1 then 'submitted'
    when 2 then 'cvReviewed'
    when 3 then 'interviewed'
    when 4 then 'offerMade'
    when 5 then 'offerAccepted'
    when 6 then 'assigned'
  end as dropped_at_step
from pair
left join star.fact_requisition as r on r.requisition_id = pair.requisition_id
left join asked as a on a.requisition_id = pair.requisition_id and a.agency_id = pair.agency_id
left join put_forward as p on p.requisition_id = pair.requisition_id and p.agency_id = pair.agency_id
left join tracked as t on t.requisition_id = pair.requisition_id and t.agency_id = pair.agency_id
left join dropped as d
  on d.requisition_id = pair.requisition_id and d.agency_id = pair.agency_id and d.place = 1
where not coalesce(r.is_deleted, false);
