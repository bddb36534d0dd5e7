-- How long each timesheet took from the end of its week to its submission for approval and to the approval, and how often it
-- changed state.
-- Grain: one row per timesheet.
-- Question: How late are timesheets?
-- Assumption: a submission is on time, and an approval not late, up to three days after the end of the week; a waiting
-- timesheet is late from the fourth day. The service does not say when a timesheet was submitted: see submitted_basis. Only
-- changes of state that a sync has seen count: two changes between two syncs show as one. Absences and cancelled timesheets
-- are neither on time nor late.
-- Sources: star.fact_timesheet, star.fact_webhook_event, history.fact_timesheet
-- Slices: timesheet_id
-- Measures: distinct workers = worker_id; average week_end_to_created_days, week_end_to_approval_days, waiting_days,
--   week_end_to_submission_days, approval_hours; sum status_changes; none versions
-- Columns:
--   timesheet_id text key: The timesheet.
--   reference text: Its reference.
--   status text: State: pending, pending_approval, approved, cancelled or absent.
--   company_id text: The hiring company; '-1' when the record names none.
--   project_id text: The project; '-1' when the record names none.
--   site_id text: The site; '-1' when the record names none.
--   agency_id text: The agency; '-1' when the record names none.
--   worker_id text: The worker; '-1' when the record names none.
--   assignment_id text: The assignment; empty when the record names none.
--   week_ending_date date: Last day of the week, as the company counts weeks.
--   created_at timestamptz: When it was created.
--   approved_at timestamptz: When it was approved; empty while it is not.
--   created_date date: Day of its creation, reporting zone.
--   approved_date date: Day of its approval, reporting zone.
--   week_end_to_created_days integer: Days from the end of the week to its creation; below 0 when it was created before.
--   week_end_to_approval_days integer: Days from the end of the week to its approval; empty while it is not approved.
--   waiting_days integer: Days since the end of the week while it waits for approval, else empty.
--   is_late boolean: Whether its approval is, or was, more than three days after the end of the week; empty for an absence, a
--     cancelled timesheet and one without a week.
--   submitted_at timestamptz: When it was submitted for approval, at the latest; empty before that, and for an absence or a
--     cancelled timesheet.
--   submitted_date date: Day of its submission, reporting zone.
--   submitted_basis text: How submitted_at is known: event (the first delivered request for approval), seen waiting (the
--     change in which a sync first saw it wait) or approval (the latest possible time).
--   week_end_to_submission_days integer: Days from the end of the week to its submission; below 0 when it was submitted before.
--   is_on_time boolean: Whether it was submitted at most three days after the end of the week; also false when it is older
--     than that and not submitted. Empty when only a later approval shows it, for an absence and for a cancelled timesheet.
--   approved_by_user_id text: Who approved it; '-1' when the record names nobody.
--   approval_hours numeric(18,4): Hours from submitted_at to the approval, nights and weekends included; empty while it waits,
--     and where only the approval shows when it was submitted.
--   versions bigint: Version number that the service gives the record.
--   status_changes bigint: Changes of state that a sync has seen.
with
-- Include: timesheet_submission

version as (
  select timesheet_id, status, valid_from, 0 as is_current from history.fact_timesheet where :slice(timesheet_id)
  union all
  select timesheet_id, status, valid_from, 1 as is_current
  from star.fact_timesheet
  where timesheet_id in (select h.timesheet_id from history.fact_timesheet as h) and :slice(timesheet_id)
),

change as (
  select
    version.timesheet_id,
    version.status,
    lag(version.status) over (
      partition by version.timesheet_id order by version.is_current, version.valid_from nulls first
    ) as status_before
  from version
),

changes as (
  select change.timesheet_id, count(*) as status_changes
  from change
  where change.status <> change.status_before
  group by change.timesheet_id
),

dated as (
  select
    t.*,
    :day(t.created_at) as created_date,
    :day(t.approved_at) as approved_date,
    t.status in ('pending', 'pending_approval') as is_waiting
  from timed_timesheet as t
)

select
  t.timesheet_id,
  t.reference,
  t.status,
  t.company_id,
  t.project_id,
  t.site_id,
  t.agency_id,
  t.worker_id,
  t.assignment_id,
  t.week_ending_date,
  t.created_at,
  t.approved_at,
  t.created_date,
  t.approved_date,
  cast(t.created_date - t.week_ending_date as integer) as week_end_to_created_days,
  cast(t.approved_date - t.week_ending_date as integer) as week_end_to_approval_days,
  case when t.is_waiting then cast(:today - t.week_ending_date as integer) end as waiting_days,
  case
    when t.is_exempt then null
    when t.approved_date is not null then :days(t.approved_date, t.week_ending_date) > 3
    else :days(:today, t.week_ending_date) > 3
  end as is_late,
  t.submitted_at,
  t.submitted_date,
  t.submitted_basis,
  cast(t.submitted_date - t.week_ending_date as integer) as week_end_to_submission_days,
  t.is_on_time,
  coalesce(t.approved_by_user_id, '-1') as approved_by_user_id,
  case
    when t.submitted_basis in ('event', 'seen waiting') and t.approved_at >= t.submitted_at
      then cast(extract(epoch from (t.approved_at - t.submitted_at)) as double precision) / 3600.0
  end as approval_hours,
  t.version as versions,
  coalesce(changes.status_changes, 0) as status_changes
from dated as t
left join changes on changes.timesheet_id = t.timesheet_id
