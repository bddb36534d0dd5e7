-- When a timesheet was submitted for approval. The service gives no time of it: the first request for approval that an event
-- told of, else the change with which a sync first saw it wait, else its approval, which is the latest that it can be.
submission_event as (
  select e.record_id as timesheet_id, min(e.created_at) as submitted_at
  from star.fact_webhook_event as e
  where e.type = 'timesheet_approval_requested' and e.record_id is not null
    and :touched(e.record_id)
  group by e.record_id
),

seen_waiting as (
  select v.timesheet_id, min(v.changed_at) as submitted_at
  from (
    select h.timesheet_id, h.valid_from as changed_at from history.fact_timesheet as h
    where h.status = 'pending_approval' and :touched(h.timesheet_id)
    union all
    select t.timesheet_id, t.source_updated_at as changed_at from star.fact_timesheet as t
    where t.status = 'pending_approval' and :touched(t.timesheet_id)
  ) as v
  group by v.timesheet_id
),

submitted_timesheet as (
  select
    t.timesheet_id,
    case
      when e.submitted_at is not null then e.submitted_at
      else least(coalesce(s.submitted_at, t.approved_at), coalesce(t.approved_at, s.submitted_at))
    end as submitted_at,
    case
      when e.submitted_at is not null then 'event'
      when s.submitted_at is not null and (t.approved_at is null or s.submitted_at <= t.approved_at) then 'seen waiting'
      when t.approved_at is not null then 'approval'
    end as submitted_basis
  from star.fact_timesheet as t
  left join submission_event as e on e.timesheet_id = t.timesheet_id
  left join seen_waiting as s on s.timesheet_id = t.timesheet_id
  where not t.is_deleted and coalesce(t.status, '') not in ('absent', 'cancelled') and :touched(t.timesheet_id)
),

-- Within three days of the end of the week. A late approval does not tell whether the submission was late.
timed_timesheet as (
  select
    t.timesheet_id,
    s.submitted_at,
    :day(s.submitted_at) as submitted_date,
    s.submitted_basis,
    case
      when :day(s.submitted_at) <= t.week_ending_date + 3 then true
      when s.submitted_basis in ('event', 'seen waiting') and t.week_ending_date is not null then false
      when s.submitted_at is null and :today > t.week_ending_date + 3 then false
    end as is_on_time
  from submitted_timesheet as s
  inner join star.fact_timesheet as t on t.timesheet_id = s.timesheet_id
),
