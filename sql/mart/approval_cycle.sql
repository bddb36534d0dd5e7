-- How long each stage of approval took, or has been waiting. A stage waits from the approval of the previous stage, and the
-- first one from the creation of the requisition. The wait ends with its own approval, or with the last sync while it is
-- pending.
-- Grain: one row per requisition and stage of its approval.
-- Question: Who holds approvals, and for how long?
-- Sources: star.fact_requisition, star.fact_requisition_approval_stage
-- Measures: none stage; average hours_waiting
-- Columns:
--   requisition_approval_stage_key text key: Requisition and stage.
--   requisition_id text: The requisition.
--   requisition_reference text: Its reference.
--   requisition_status text: State of the requisition.
--   company_id text: The hiring company; '-1' when the record names none.
--   project_id text: The project; '-1' when the record names none.
--   trade_id text: The trade; '-1' when the record names none.
--   stage integer: Number of the stage.
--   stage_name text: Name that the company gives it.
--   approver_contact_id text: The approver, in star.dim_contact; '-1' when the record names none.
--   is_approved boolean: Whether the stage is approved.
--   is_pending boolean: Whether the requisition waits for this stage: it is raised, and every earlier stage is approved.
--   waiting_since_at timestamptz: When it began to wait; empty when unknown, when an earlier stage is still pending, or
--     when the requisition ended before this approval.
--   approved_at timestamptz: When it was approved; empty in older records.
--   hours_waiting double precision: Hours from waiting_since_at to approved_at, or to the last sync while pending; below 0 when
--     the record gives them in the wrong order.
with stage as (
  select
    s.*,
    coalesce(s.is_approved, false) as is_done,
    case
      when s.stage_ordinal = min(s.stage_ordinal) over (partition by s.requisition_id) then s.requisition_created_at
      else s.prior_approved_at
    end as since_at,
    count(case when not coalesce(s.is_approved, false) then 1 end) over (
      partition by s.requisition_id order by s.stage_ordinal rows between unbounded preceding and 1 preceding
    ) as open_before
  from star.fact_requisition_approval_stage as s
  where not s.is_deleted
),

turn as (
  select
    stage.*,
    r.reference,
    r.status,
    r.company_id,
    r.project_id,
    r.trade_id,
    not stage.is_done and stage.open_before = 0 and coalesce(r.status, '') = 'raised' as is_waiting
  from stage
  left join star.fact_requisition as r on r.requisition_id = stage.requisition_id
  where not coalesce(r.is_deleted, false)
),

timed as (
  select
    turn.*,
    case when is_done or is_waiting then since_at end as waiting_since_at,
    case when is_done then approved_at when is_waiting then :as_of end as until_at
  from turn
)

select
  requisition_approval_stage_key,
  requisition_id,
  reference as requisition_reference,
  status as requisition_status,
  coalesce(company_id, '-1') as company_id,
  coalesce(project_id, '-1') as project_id,
  coalesce(trade_id, '-1') as trade_id,
  stage,
  stage_name,
  coalesce(approver_contact_id, '-1') as approver_contact_id,
  is_done as is_approved,
  is_waiting as is_pending,
  waiting_since_at,
  case when is_done then approved_at end as approved_at,
  cast(cast(extract(epoch from (until_at - waiting_since_at)) as numeric(18, 6)) as double precision) / 3600.0 as hours_waiting
from timed;
