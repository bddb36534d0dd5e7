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
    asked.by_agency, asked.by_month, asked.by_week, definition.threshold,
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

-- Read more than once, and sooner computed again than kept: a row for each timesheet and grouping is too much to keep.
counted as not materialized (
  select
    definition.choice, timesheet.worker_id, timesheet.company_id, timesheet.project_id, timesheet.agency_id,
    timesheet.week_ending_at, timesheet.week_ending_at at time zone definition.zone as local_at, definition.week_start,
    case definition.worker_week when 'timesheet' then timesheet.timesheet_id else '' end as sheet,
    coalesce(case definition.hours_field when 'timelogHours' then logged.hours else timesheet.net_hours end, 0) as hours
  from star.fact_timesheet as timesheet
  cross join definition
  left join logged on logged.timesheet_id = timesheet.timesheet_id
  where not timesheet.is_deleted and timesheet.week_ending_at is not null
    and position(',' || coalesce(timesheet.status, '') || ',' in definition.timesheet_statuses) > 0
    and (definition.company_ids = '' or position(',' || timesheet.company_id || ',' in definition.company_ids) > 0)
),

dated as not materialized (
  select
    counted.choice, counted.worker_id, counted.week_ending_at, counted.company_id, counted.project_id,
    counted.agency_id, counted.sheet, counted.hours,
    substr(cast(cast(counted.local_at as date) as text), 1, 7) as month_key,
    cast(
      cast(counted.local_at as date) - cast(mod(
        cast(extract(isodow from counted.local_at) as integer)
          + case counted.week_start when 'sunday' then 0 when 'saturday' then 1 else 6 end, 7
      ) as integer) as text
    ) as week_key
  from counted
  where :range
),

-- Nearly every worker has one timesheet a week, which is a week in every grouping; only others have to be added up.
several as (
  select dated.choice, dated.worker_id, dated.week_ending_at, dated.sheet
  from dated
  group by dated.choice, dated.worker_id, dated.week_ending_at, dated.sheet
  having count(*) > 1
),

keyed as not materialized (
  select
    asking.group_by, asking.factor, asking.threshold, dated.worker_id, dated.week_ending_at, dated.sheet, dated.hours,
    several.worker_id is not null as is_several,
    case when asking.by_company then dated.company_id end as company_id,
    case when asking.by_project then dated.project_id end as project_id,
    case when asking.by_agency then dated.agency_id end as agency_id,
    case when asking.by_month then dated.month_key end as month_key,
    case when asking.by_week then dated.week_key end as week_key
  from dated
  join asking on asking.choice = dated.choice
  left join several on several.choice = dated.choice and several.worker_id = dated.worker_id
    and several.week_ending_at = dated.week_ending_at and several.sheet = dated.sheet
),

worker_week as not materialized (
  select
    keyed.group_by, keyed.factor, keyed.threshold, keyed.company_id, keyed.project_id, keyed.agency_id,
    keyed.month_key, keyed.week_key, keyed.worker_id, keyed.hours
  from keyed
  where not keyed.is_several
  union all
  select
    keyed.group_by, keyed.factor, keyed.threshold, keyed.company_id, keyed.project_id, keyed.agency_id,
    keyed.month_key, keyed.week_key, keyed.worker_id, sum(keyed.hours) as hours
  from keyed
  where keyed.is_several
  group by
    keyed.group_by, keyed.factor, keyed.threshold, keyed.company_id, keyed.project_id, keyed.agency_id,
    keyed.month_key, keyed.week_key, keyed.worker_id, keyed.week_ending_at, keyed.sheet
),

-- A worker is over the threshold when the longest week is.
longest as (
  select
    worker_week.group_by, worker_week.threshold, worker_week.company_id, worker_week.project_id, worker_week.agency_id,
    worker_week.month_key, worker_week.week_key, worker_week.worker_id, max(worker_week.hours) as hours
  from worker_week
  group by
    worker_week.group_by, worker_week.threshold, worker_week.company_id, worker_week.project_id,
    worker_week.agency_id, worker_week.month_key, worker_week.week_key, worker_week.worker_id
),

part as (
  select
    worker_week.group_by, worker_week.company_id, worker_week.project_id, worker_week.agency_id,
    worker_week.month_key, worker_week.week_key, threshold.threshold_hours, max(worker_week.factor) as factor,
    count(*) as worker_weeks,
    sum(case when worker_week.hours > threshold.threshold_hours
      or (worker_week.threshold = 'at' and worker_week.hours = threshold.threshold_hours) then 1 else 0 end) as weeks_over,
    0 as workers_over, sum(worker_week.hours) as hours, max(worker_week.hours) as longest
  from worker_week
  cross join threshold
  group by
    worker_week.group_by, worker_week.company_id, worker_week.project_id, worker_week.agency_id,
    worker_week.month_key, worker_week.week_key, threshold.threshold_hours
  union all
  select
    longest.group_by, longest.company_id, longest.project_id, longest.agency_id,
    longest.month_key, longest.week_key, threshold.threshold_hours, null, 0, 0,
    sum(case when longest.hours > threshold.threshold_hours
      or (longest.threshold = 'at' and longest.hours = threshold.threshold_hours) then 1 else 0 end), null, null
  from longest
  cross join threshold
  group by
    longest.group_by, longest.company_id, longest.project_id, longest.agency_id,
    longest.month_key, longest.week_key, threshold.threshold_hours
),

summary as (
  select
    part.group_by, concat_ws('|', part.company_id, part.project_id, part.agency_id, part.month_key, part.week_key)
      as group_key,
    part.company_id, part.project_id, part.agency_id, part.month_key, part.week_key, part.threshold_hours,
    max(part.factor) as factor, sum(part.worker_weeks) as worker_weeks, sum(part.weeks_over) as weeks_over,
    sum(part.workers_over) as workers_over, cast(sum(part.hours) as double precision) as total_hours,
    cast(max(part.longest) as double precision) as max_weekly_hours
  from part
  group by
    part.group_by, part.company_id, part.project_id, part.agency_id, part.month_key, part.week_key,
    part.threshold_hours
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
