-- Timesheets that the definition counts, with their hours: `zoned`. Reads definition and asked.
asking as (
  select
    definition.choice, definition.choice || asked.group_by as group_by, asked.by_company, asked.by_project,
    asked.by_agency, asked.by_month, asked.by_week, definition.threshold, definition.zone,
    definition.zone_minutes, definition.week_start,
    -- One for each decimal kept; 0 leaves figures as they are computed.
    cast(case when definition.hours_decimals is null then 0 else power(10.0, definition.hours_decimals) end
      as double precision) as factor
  from definition
  cross join asked
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

zoned as not materialized (
  select
    definition.choice, timesheet.worker_id, timesheet.company_id, timesheet.project_id, timesheet.agency_id,
    timesheet.week_ending_at,
    timesheet.week_ending_at at time zone definition.zone + definition.zone_minutes * interval '1 minute' as local_at,
    case definition.worker_week when 'timesheet' then timesheet.timesheet_id else '' end as sheet,
    coalesce(case definition.hours_field when 'timelogHours' then logged.hours else timesheet.net_hours end, 0) as hours
  from star.fact_timesheet as timesheet
  cross join definition
  left join logged on logged.timesheet_id = timesheet.timesheet_id
  where not timesheet.is_deleted and timesheet.week_ending_at is not null
    and position(',' || coalesce(timesheet.status, '') || ',' in definition.timesheet_statuses) > 0
    and (definition.company_ids = '' or position(',' || timesheet.company_id || ',' in definition.company_ids) > 0)
),
