-- Timesheets that the definition counts, with their hours: `zoned`. Reads definition and asked.
asking as (
  select
    definition.choice, definition.choice || asked.group_by as group_by, asked.by_company, asked.by_project,
    asked.by_agency, asked.by_month, asked.by_week, definition.threshold, definition.zone,
    definition.zone_minutes, definition.week_start,
    -- Factor that rounds to the decimals; 0 leaves figures as computed.
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

-- Integers stand for texts that occur millions of times. Materialized, since the numbering is arbitrary.
choice_number as materialized (
  select definition.choice, cast(:number(definition.choice) as integer) as choice_number
  from definition
),

worker_number as materialized (
  select named.worker_id, cast(:number(named.worker_id) as integer) as worker
  from (select distinct timesheet.worker_id from star.fact_timesheet as timesheet) as named
),

place_number as materialized (
  select
    named.company_id, named.project_id, named.agency_id,
    cast(:number(named.company_id, named.project_id, named.agency_id) as integer) as place
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
    definition.worker_week = 'timesheet' as is_own_week,
    definition.worker_week = 'calendarWeek' as is_calendar_week, definition.week_start,
    coalesce(case definition.hours_field when 'timelogHours' then logged.hours else timesheet.net_hours end, 0) as hours
  from star.fact_timesheet as timesheet
  cross join definition
  left join logged on logged.timesheet_id = timesheet.timesheet_id
  where not timesheet.is_deleted and timesheet.week_ending_at is not null
    and position(',' || coalesce(timesheet.status, '') || ',' in definition.timesheet_statuses) > 0
    and (definition.company_ids = '' or position(',' || timesheet.company_id || ',' in definition.company_ids) > 0)
),
