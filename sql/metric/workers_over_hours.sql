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

counted as (
  select
    definition.choice, timesheet.worker_id, timesheet.week_ending_at, timesheet.company_id, timesheet.project_id,
    timesheet.agency_id, definition.week_start,
    coalesce(case definition.hours_field when 'timelogHours' then logged.hours else timesheet.net_hours end, 0) as hours,
    case definition.worker_week when 'timesheet' then timesheet.timesheet_id else '' end as sheet,
    timesheet.week_ending_at at time zone definition.zone as local_at
  from star.fact_timesheet as timesheet
  cross join definition
  left join logged on logged.timesheet_id = timesheet.timesheet_id
  where not timesheet.is_deleted and timesheet.week_ending_at is not null
    and position(',' || coalesce(timesheet.status, '') || ',' in definition.timesheet_statuses) > 0
    and (definition.company_ids = '' or position(',' || timesheet.company_id || ',' in definition.company_ids) > 0)
),

-- What every grouping adds up from: a worker with one timesheet a week is one row here already.
cell as (
  select
    counted.choice, counted.worker_id, counted.week_ending_at, counted.company_id, counted.project_id, counted.agency_id, counted.sheet,
    substr(cast(cast(counted.local_at as date) as text), 1, 7) as month_key,
    cast(
      cast(counted.local_at as date) - cast(mod(
        cast(extract(isodow from counted.local_at) as integer)
          + case counted.week_start when 'sunday' then 0 when 'saturday' then 1 else 6 end, 7
      ) as integer) as text
    ) as week_key,
    counted.hours
  from counted
  where :range
),

worker_week as (
  select
    asking.group_by,
    case when asking.by_company then cell.company_id end as company_id,
    case when asking.by_project then cell.project_id end as project_id,
    case when asking.by_agency then cell.agency_id end as agency_id,
    case when asking.by_month then cell.month_key end as month_key,
    case when asking.by_week then cell.week_key end as week_key,
    cell.worker_id, sum(cell.hours) as hours
  from cell
  join asking on asking.choice = cell.choice
  group by
    asking.group_by,
    case when asking.by_company then cell.company_id end,
    case when asking.by_project then cell.project_id end,
    case when asking.by_agency then cell.agency_id end,
    case when asking.by_month then cell.month_key end,
    case when asking.by_week then cell.week_key end,
    cell.worker_id, cell.week_ending_at, cell.sheet
),

summary as (
  select
    worker_week.group_by, worker_week.company_id, worker_week.project_id, worker_week.agency_id,
    worker_week.month_key, worker_week.week_key, threshold.threshold_hours,
    count(*) as worker_weeks,
    sum(case when worker_week.hours > threshold.threshold_hours
      or (asking.threshold = 'at' and worker_week.hours = threshold.threshold_hours) then 1 else 0 end) as weeks_over,
    count(distinct case when worker_week.hours > threshold.threshold_hours
      or (asking.threshold = 'at' and worker_week.hours = threshold.threshold_hours)
      then worker_week.worker_id end) as workers_over,
    cast(sum(worker_week.hours) as double precision) as total_hours,
    cast(max(worker_week.hours) as double precision) as max_weekly_hours,
    max(asking.factor) as factor
  from worker_week
  cross join threshold
  join asking on asking.group_by = worker_week.group_by
  group by
    worker_week.group_by, worker_week.company_id, worker_week.project_id, worker_week.agency_id,
    worker_week.month_key, worker_week.week_key, threshold.threshold_hours
),

shown as (
  select
    group_by, concat_ws('|', company_id, project_id, agency_id, month_key, week_key) as group_key,
    company_id, project_id, agency_id, month_key, week_key, cast(threshold_hours as double precision) as threshold_hours,
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
