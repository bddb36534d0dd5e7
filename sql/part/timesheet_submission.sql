-- When a timesheet was submitted for approval, which the service does not report. Takes the first event that requests
-- approval, else the change in which a sync first saw it wait, else its approval, the latest possible time.
-- `timed_timesheet`: all timesheets with their columns; absences and cancelled ones have no submission.
submission_event as (
  select e.record_id as timesheet_id, min(e.created_at) as submitted_at
  from star.fact_webhook_event as e
  where e.type = 'timesheet_approval_requested' and e.record_id is not null
    and :slice(e.record_id)
  group by e.record_id
),

waited_before as (
  select h.timesheet_id, min(h.valid_from) as submitted_at
  from history.fact_timesheet as h
  where h.status = 'pending_approval' and :slice(h.timesheet_id)
  group by h.timesheet_id
),

-- Reads the timesheets once: a self-join of ten million did not fit the memory of DuckDB.
told_timesheet as (
  select
    t.*,
    coalesce(t.status, '') in ('absent', 'cancelled') as is_exempt,
    e.submitted_at as event_at,
    case
      when coalesce(t.status, '') <> 'pending_approval' or t.valid_from is null then w.submitted_at
      when w.submitted_at < t.valid_from then w.submitted_at
      else t.valid_from
    end as waiting_at
  from star.fact_timesheet as t
  left join submission_event as e on e.timesheet_id = t.timesheet_id
  left join waited_before as w on w.timesheet_id = t.timesheet_id
  where not t.is_deleted and :slice(t.timesheet_id)
),

submitted_timesheet as (
  select
    t.*,
    case
      when t.is_exempt then null
      when t.event_at is not null then t.event_at
      else least(coalesce(t.waiting_at, t.approved_at), coalesce(t.approved_at, t.waiting_at))
    end as submitted_at,
    case
      when t.is_exempt then null
      when t.event_at is not null then 'event'
      when t.waiting_at is not null and (t.approved_at is null or t.waiting_at <= t.approved_at) then 'seen waiting'
      when t.approved_at is not null then 'approval'
    end as submitted_basis
  from told_timesheet as t
),

dated_timesheet as (
  select t.*, :day(t.submitted_at) as submitted_date
  from submitted_timesheet as t
),

-- Within three days of the end of the week. A late approval does not show whether the submission was late.
timed_timesheet as (
  select
    t.*,
    case
      when t.is_exempt then null
      when t.submitted_date <= t.week_ending_date + 3 then true
      when t.submitted_basis in ('event', 'seen waiting') and t.week_ending_date is not null then false
      when t.submitted_at is null and :today > t.week_ending_date + 3 then false
    end as is_on_time
  from dated_timesheet as t
),
