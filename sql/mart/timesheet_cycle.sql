-- How long each timesheet took from the end of its week to its approval, and how often it changed state.
-- Grain: one row per timesheet.
-- Question: How late are timesheets?
-- Assumption: an approval is late more than three days after the end of the week; a timesheet that waits is late from the
-- fourth day. Only changes of state that a sync has seen count: two changes between two syncs show as one.
-- Sources: star.fact_timesheet, history.fact_timesheet
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
--   is_late boolean: Whether its approval is, or was, more than three days after the end of the week.
--   versions bigint: Version of the record, as the service counts them.
--   status_changes bigint: Changes of state that a sync has seen.
with version as (
  select timesheet_id, status, valid_from, 0 as is_current from history.fact_timesheet
  union all
  select timesheet_id, status, source_updated_at as valid_from, 1 as is_current
  from star.fact_timesheet
  where timesheet_id in (select h.timesheet_id from history.fact_timesheet as h)
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
    cast(t.created_at at time zone 'Europe/London' as date) as created_date,
    cast(t.approved_at at time zone 'Europe/London' as date) as approved_date,
    t.status in ('pending', 'pending_approval') as is_waiting
  from star.fact_timesheet as t
  where not t.is_deleted
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
    when t.approved_date is not null then t.approved_date - t.week_ending_date > 3
    when t.is_waiting then :today - t.week_ending_date > 3
    else false
  end as is_late,
  t.version as versions,
  coalesce(changes.status_changes, 0) as status_changes
from dated as t
left join changes on changes.timesheet_id = t.timesheet_id
