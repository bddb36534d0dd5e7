-- The figures of each group and threshold over timesheets in range: `shown`. Reads ranged and threshold.

-- Six numbers a timesheet, materialized: computing them from the texts on each read took ten times as long, and wider rows
-- of ten million timesheets did not fit the memory of DuckDB.
counted as materialized (
  select
    choice_number.choice_number, worker_number.worker, place_number.place, ranged.week_ending_at, ranged.is_own_week,
    -- Timesheets of a worker with the same value are one week.
    case
      when ranged.is_calendar_week then cast(cast(ranged.local_at as date) - cast(mod(
        cast(extract(isodow from ranged.local_at) as integer)
          + case ranged.week_start when 'sunday' then 0 when 'saturday' then 1 else 6 end, 7
      ) as integer) as timestamp)
      else ranged.week_ending_at at time zone 'UTC'
    end as week_at,
    ranged.hours
  from ranged
  join choice_number on choice_number.choice = ranged.choice
  join worker_number on worker_number.worker_id = ranged.worker_id
  join place_number on place_number.company_id = ranged.company_id and place_number.project_id = ranged.project_id
    and place_number.agency_id = ranged.agency_id
),

-- Nearly every worker has one timesheet a week, which is a week in every grouping; only the others need a sum.
several as materialized (
  select counted.choice_number, counted.worker, counted.week_at
  from counted
  where not counted.is_own_week
  group by counted.choice_number, counted.worker, counted.week_at
  having count(*) > 1
),

-- Timesheets of one place and week belong to the same groups.
cell as (
  select
    stored.choice_number, stored.place, stored.week_ending_at, definition.choice, definition.week_start,
    cast(stored.week_ending_at at time zone definition.zone + definition.zone_minutes * interval '1 minute' as date)
      as local_day
  from (select distinct choice_number, place, week_ending_at from counted) as stored
  join choice_number on choice_number.choice_number = stored.choice_number
  join definition on definition.choice = choice_number.choice
),

keyed as (
  select
    cell.choice_number, cell.place, cell.week_ending_at, cell.local_day, asking.group_by, asking.by_week,
    case when asking.by_company then place_number.company_id end as company_id,
    case when asking.by_project then place_number.project_id end as project_id,
    case when asking.by_agency then place_number.agency_id end as agency_id,
    case when asking.by_month then substr(cast(cell.local_day as text), 1, 7) end as month_key,
    case when asking.by_week then cast(
      cell.local_day - cast(mod(
        cast(extract(isodow from cell.local_day) as integer)
          + case cell.week_start when 'sunday' then 0 when 'saturday' then 1 else 6 end, 7
      ) as integer) as text
    ) end as week_key
  from cell
  join asking on asking.choice = cell.choice
  join place_number on place_number.place = cell.place
),

grouped as (
  select
    keyed.*,
    concat_ws('|', keyed.company_id, keyed.project_id, keyed.agency_id, keyed.month_key, keyed.week_key) as group_key
  from keyed
),

-- The numbering is arbitrary: to order the groups, PostgreSQL would sort all their cells.
named as materialized (
  select
    grouped.group_by, grouped.group_key, cast(:number(grouped.group_by, grouped.group_key) as integer) as number,
    max(grouped.company_id) as company_id, max(grouped.project_id) as project_id, max(grouped.agency_id) as agency_id,
    max(grouped.month_key) as month_key, max(grouped.week_key) as week_key
  from grouped
  group by grouped.group_by, grouped.group_key
),

numbered as materialized (
  select
    named.number, grouped.choice_number, grouped.place, grouped.week_ending_at, grouped.by_week,
    cast(date_trunc('month', grouped.local_day) as date) as month_start_date
  from grouped
  join named on named.group_by = grouped.group_by and named.group_key = grouped.group_key
),

single as not materialized (
  select counted.choice_number, counted.worker, counted.place, counted.week_ending_at, counted.hours
  from counted
  left join several on several.choice_number = counted.choice_number and several.worker = counted.worker
    and several.week_at = counted.week_at and not counted.is_own_week
  where several.worker is null
),

added_up as materialized (
  select numbered.number, counted.worker, sum(counted.hours) as hours
  from counted
  join several on several.choice_number = counted.choice_number and several.worker = counted.worker
    and several.week_at = counted.week_at
  join numbered on numbered.choice_number = counted.choice_number and numbered.place = counted.place
    and numbered.week_ending_at = counted.week_ending_at
  where not counted.is_own_week
  group by numbered.number, counted.worker, counted.week_at
),

-- Grouped by length, as most weeks are as long as many others.
cell_length as (
  select
    single.choice_number, single.place, single.week_ending_at, single.hours, count(*) as weeks,
    sum(single.hours) as total_hours
  from single
  group by single.choice_number, single.place, single.week_ending_at, single.hours
),

week_length as (
  select length.number, length.hours, sum(length.weeks) as weeks, sum(length.total_hours) as total_hours
  from (
    select numbered.number, cell_length.hours, cell_length.weeks, cell_length.total_hours
    from cell_length
    join numbered on numbered.choice_number = cell_length.choice_number and numbered.place = cell_length.place
      and numbered.week_ending_at = cell_length.week_ending_at
    union all
    select added_up.number, added_up.hours, 1 as weeks, added_up.hours as total_hours from added_up
  ) as length
  group by length.number, length.hours
),

bar as (
  select named.number, threshold.threshold_hours, asking.threshold, asking.factor
  from named
  join asking on asking.group_by = named.group_by
  cross join threshold
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

-- Weeks at or over the lowest threshold. All weeks of a month belong to the same groups, except groupings by week.
long_week as not materialized (
  select single.choice_number, single.worker, single.place, single.week_ending_at, single.hours
  from single
  where single.hours >= (select min(threshold.threshold_hours) from threshold)
),

longest_of_month as (
  select long_week.choice_number, long_week.worker, long_week.place, month.month_start_date, max(long_week.hours) as hours
  from long_week
  join (
    select distinct choice_number, place, week_ending_at, month_start_date from numbered where not by_week
  ) as month on month.choice_number = long_week.choice_number and month.place = long_week.place
    and month.week_ending_at = long_week.week_ending_at
  group by long_week.choice_number, long_week.worker, long_week.place, month.month_start_date
),

-- A worker is over the threshold when the longest week is.
longest as (
  select one.number, one.worker, max(one.hours) as hours
  from (
    select month.number, longest_of_month.worker, longest_of_month.hours
    from longest_of_month
    join (
      select distinct number, choice_number, place, month_start_date from numbered where not by_week
    ) as month on month.choice_number = longest_of_month.choice_number and month.place = longest_of_month.place
      and month.month_start_date = longest_of_month.month_start_date
    union all
    select numbered.number, long_week.worker, long_week.hours
    from long_week
    join numbered on numbered.by_week and numbered.choice_number = long_week.choice_number
      and numbered.place = long_week.place and numbered.week_ending_at = long_week.week_ending_at
    union all
    select added_up.number, added_up.worker, added_up.hours from added_up
  ) as one
  group by one.number, one.worker
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
    coalesce(worker_count.workers_over, 0) as workers_over, week_count.total_hours, week_count.max_weekly_hours
  from named
  join bar on bar.number = named.number
  join week_count on week_count.number = bar.number and week_count.threshold_hours = bar.threshold_hours
  left join worker_count on worker_count.number = bar.number and worker_count.threshold_hours = bar.threshold_hours
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
