-- The figures of each group and threshold over timesheets in range: `shown`. Reads ranged and threshold.

-- Read more than once, but cheaper to compute again than to keep.
counted as not materialized (
  select
    ranged.choice, worker_number.worker, place_number.place, ranged.week_ending_at, ranged.sheet, ranged.hours
  from ranged
  join worker_number on worker_number.worker_id = ranged.worker_id
  join place_number on place_number.company_id = ranged.company_id and place_number.project_id = ranged.project_id
    and place_number.agency_id = ranged.agency_id
),

-- Nearly every worker has one timesheet a week, which is a week in every grouping; only others have to be added up.
several as (
  select counted.choice, counted.worker, counted.week_ending_at, counted.sheet
  from counted
  group by counted.choice, counted.worker, counted.week_ending_at, counted.sheet
  having count(*) > 1
),

-- The groups that the timesheets of a place and a week are in.
local_slot as (
  select
    asking.*, stored.place, stored.week_ending_at,
    cast(stored.week_ending_at at time zone asking.zone + asking.zone_minutes * interval '1 minute' as date) as local_day
  from (select distinct counted.choice, counted.place, counted.week_ending_at from counted) as stored
  join asking on asking.choice = stored.choice
),

slot as (
  select
    local_slot.group_by, local_slot.choice, local_slot.place, local_slot.week_ending_at,
    case when local_slot.by_company then place_number.company_id end as company_id,
    case when local_slot.by_project then place_number.project_id end as project_id,
    case when local_slot.by_agency then place_number.agency_id end as agency_id,
    case when local_slot.by_month then substr(cast(local_slot.local_day as text), 1, 7) end as month_key,
    case when local_slot.by_week then cast(
      local_slot.local_day - cast(mod(
        cast(extract(isodow from local_slot.local_day) as integer)
          + case local_slot.week_start when 'sunday' then 0 when 'saturday' then 1 else 6 end, 7
      ) as integer) as text
    ) end as week_key
  from local_slot
  join place_number on place_number.place = local_slot.place
),

keyed as (
  select
    slot.*, concat_ws('|', slot.company_id, slot.project_id, slot.agency_id, slot.month_key, slot.week_key) as group_key
  from slot
),

-- Any number will do, as long as a group has one: to put the groups in order, a server would sort all their slots.
named as (
  select
    keyed.group_by, keyed.group_key, row_number() over () as number,
    max(keyed.company_id) as company_id, max(keyed.project_id) as project_id, max(keyed.agency_id) as agency_id,
    max(keyed.month_key) as month_key, max(keyed.week_key) as week_key
  from keyed
  group by keyed.group_by, keyed.group_key
),

numbered as (
  select named.number, keyed.choice, keyed.place, keyed.week_ending_at
  from keyed
  join named on named.group_by = keyed.group_by and named.group_key = keyed.group_key
),

worker_week as not materialized (
  select numbered.number, counted.worker, counted.hours
  from counted
  join numbered on numbered.choice = counted.choice and numbered.place = counted.place
    and numbered.week_ending_at = counted.week_ending_at
  left join several on several.choice = counted.choice and several.worker = counted.worker
    and several.week_ending_at = counted.week_ending_at and several.sheet = counted.sheet
  where several.worker is null
  union all
  select numbered.number, counted.worker, sum(counted.hours) as hours
  from counted
  join several on several.choice = counted.choice and several.worker = counted.worker
    and several.week_ending_at = counted.week_ending_at and several.sheet = counted.sheet
  join numbered on numbered.choice = counted.choice and numbered.place = counted.place
    and numbered.week_ending_at = counted.week_ending_at
  group by numbered.number, counted.worker, counted.week_ending_at, counted.sheet
),

bar as (
  select named.number, threshold.threshold_hours, asking.threshold, asking.factor
  from named
  join asking on asking.group_by = named.group_by
  cross join threshold
),

-- Most weeks are as long as many others.
week_length as (
  select worker_week.number, worker_week.hours, count(*) as weeks, sum(worker_week.hours) as total_hours
  from worker_week
  group by worker_week.number, worker_week.hours
),

week_count as (
  select
    bar.number, bar.threshold_hours, cast(sum(week_length.weeks) as bigint) as worker_weeks,
    sum(case when week_length.hours > bar.threshold_hours
      or (bar.threshold = 'at' and week_length.hours = bar.threshold_hours) then week_length.weeks else 0 end) as weeks_over,
    cast(sum(week_length.total_hours) as double precision) as total_hours,
    cast(max(week_length.hours) as double precision) as max_weekly_hours
  from week_length
  join bar on bar.number = week_length.number
  group by bar.number, bar.threshold_hours
),

-- A worker is over the threshold when the longest week is.
longest as (
  select worker_week.number, worker_week.worker, max(worker_week.hours) as hours
  from worker_week
  group by worker_week.number, worker_week.worker
),

worker_count as (
  select
    bar.number, bar.threshold_hours,
    sum(case when longest.hours > bar.threshold_hours
      or (bar.threshold = 'at' and longest.hours = bar.threshold_hours) then 1 else 0 end) as workers_over
  from longest
  join bar on bar.number = longest.number
  group by bar.number, bar.threshold_hours
),

summary as (
  select
    named.group_by, named.group_key, named.company_id, named.project_id, named.agency_id, named.month_key,
    named.week_key, bar.threshold_hours, bar.factor, week_count.worker_weeks, week_count.weeks_over,
    worker_count.workers_over, week_count.total_hours, week_count.max_weekly_hours
  from named
  join bar on bar.number = named.number
  join week_count on week_count.number = bar.number and week_count.threshold_hours = bar.threshold_hours
  join worker_count on worker_count.number = bar.number and worker_count.threshold_hours = bar.threshold_hours
),

shown as (
  select
    group_by, group_key, company_id, project_id, agency_id, month_key, week_key, cast(threshold_hours as double precision) as threshold_hours,
    cast(worker_weeks as bigint) as worker_weeks, cast(weeks_over as bigint) as workers_over_threshold,
    cast(workers_over as bigint) as distinct_workers_over_threshold,
    case when factor = 0 then total_hours else floor(total_hours * factor + 0.5) / factor end as total_hours,
    case when factor = 0 then total_hours / worker_weeks
      else floor(total_hours / worker_weeks * factor + 0.5) / factor end as average_weekly_hours,
    case when factor = 0 then max_weekly_hours
      else floor(max_weekly_hours * factor + 0.5) / factor end as max_weekly_hours
  from summary
)
