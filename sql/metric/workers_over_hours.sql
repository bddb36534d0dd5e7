-- Workers over hours: weeks in which workers did more hours than a threshold, for each group.
-- :definition is one row of choices (the columns of ops.metric_definition), or several that differ in `choice`, :asked
-- one row per grouping (group_by, by_company, by_project, by_agency, by_month, by_week), :thresholds one row per
-- threshold_hours, :range a condition on company_id, project_id, agency_id and local_at, the week ending as clocks of
-- the zone show it.
with definition as (
  :definition
),

asked as (
  :asked
),

asking as (
  select
    definition.choice, definition.choice || asked.group_by as group_by, asked.by_company, asked.by_project,
    asked.by_agency, asked.by_month, asked.by_week, definition.threshold, definition.zone, definition.week_start,
    -- One for each decimal kept; 0 leaves figures as they are computed.
    cast(case when definition.hours_decimals is null then 0 else power(10.0, definition.hours_decimals) end
      as double precision) as factor
  from definition
  cross join asked
),

threshold as (
  :thresholds
),

logged as (
  select timelog.timesheet_id, sum(timelog.total_hours) as hours
  from star.fact_timelog as timelog
  where not timelog.is_deleted
    and exists (select 1 from definition where definition.hours_field = 'timelogHours')
  group by timelog.timesheet_id
),

-- Numbers for texts that come up a million times.
worker_number as (
  select named.worker_id, row_number() over (order by named.worker_id) as worker
  from (select distinct timesheet.worker_id from star.fact_timesheet as timesheet) as named
),

place_number as (
  select
    named.company_id, named.project_id, named.agency_id,
    row_number() over (order by named.company_id, named.project_id, named.agency_id) as place
  from (
    select distinct timesheet.company_id, timesheet.project_id, timesheet.agency_id
    from star.fact_timesheet as timesheet
  ) as named
),

-- Read more than once, and sooner computed again than kept.
counted as not materialized (
  select
    dated.choice, worker_number.worker, place_number.place, dated.week_ending_at, dated.sheet, dated.hours
  from (
    select zoned.*
    from (
      select
        definition.choice, timesheet.worker_id, timesheet.company_id, timesheet.project_id, timesheet.agency_id,
        timesheet.week_ending_at, timesheet.week_ending_at at time zone definition.zone as local_at,
        case definition.worker_week when 'timesheet' then timesheet.timesheet_id else '' end as sheet,
        coalesce(case definition.hours_field when 'timelogHours' then logged.hours else timesheet.net_hours end, 0) as hours
      from star.fact_timesheet as timesheet
      cross join definition
      left join logged on logged.timesheet_id = timesheet.timesheet_id
      where not timesheet.is_deleted and timesheet.week_ending_at is not null
        and position(',' || coalesce(timesheet.status, '') || ',' in definition.timesheet_statuses) > 0
        and (definition.company_ids = '' or position(',' || timesheet.company_id || ',' in definition.company_ids) > 0)
    ) as zoned
    where :range
  ) as dated
  join worker_number on worker_number.worker_id = dated.worker_id
  join place_number on place_number.company_id = dated.company_id and place_number.project_id = dated.project_id
    and place_number.agency_id = dated.agency_id
),

-- Nearly every worker has one timesheet a week, which is a week in every grouping; only others have to be added up.
several as (
  select counted.choice, counted.worker, counted.week_ending_at, counted.sheet
  from counted
  group by counted.choice, counted.worker, counted.week_ending_at, counted.sheet
  having count(*) > 1
),

-- The groups that the timesheets of a place and a week are in.
slot as (
  select
    asking.group_by, held.choice, held.place, held.week_ending_at,
    case when asking.by_company then place_number.company_id end as company_id,
    case when asking.by_project then place_number.project_id end as project_id,
    case when asking.by_agency then place_number.agency_id end as agency_id,
    case when asking.by_month then
      substr(cast(cast(held.week_ending_at at time zone asking.zone as date) as text), 1, 7) end as month_key,
    case when asking.by_week then cast(
      cast(held.week_ending_at at time zone asking.zone as date) - cast(mod(
        cast(extract(isodow from held.week_ending_at at time zone asking.zone) as integer)
          + case asking.week_start when 'sunday' then 0 when 'saturday' then 1 else 6 end, 7
      ) as integer) as text
    ) end as week_key
  from (select distinct counted.choice, counted.place, counted.week_ending_at from counted) as held
  join place_number on place_number.place = held.place
  join asking on asking.choice = held.choice
),

keyed as (
  select
    slot.*, concat_ws('|', slot.company_id, slot.project_id, slot.agency_id, slot.month_key, slot.week_key) as group_key
  from slot
),

numbered as (
  select
    keyed.*, dense_rank() over (order by keyed.group_by, keyed.group_key) as number
  from keyed
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

named as (
  select
    numbered.number, max(numbered.group_by) as group_by, max(numbered.group_key) as group_key,
    max(numbered.company_id) as company_id, max(numbered.project_id) as project_id,
    max(numbered.agency_id) as agency_id, max(numbered.month_key) as month_key, max(numbered.week_key) as week_key
  from numbered
  group by numbered.number
),

bar as (
  select named.number, threshold.threshold_hours, asking.threshold, asking.factor
  from named
  join asking on asking.group_by = named.group_by
  cross join threshold
),

week_count as (
  select
    bar.number, bar.threshold_hours, count(*) as worker_weeks,
    sum(case when worker_week.hours > bar.threshold_hours
      or (bar.threshold = 'at' and worker_week.hours = bar.threshold_hours) then 1 else 0 end) as weeks_over,
    cast(sum(worker_week.hours) as double precision) as total_hours,
    cast(max(worker_week.hours) as double precision) as max_weekly_hours
  from worker_week
  join bar on bar.number = worker_week.number
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

select * from shown
