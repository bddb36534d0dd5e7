-- Net hours of each worker by week from Monday to Sunday, with the average over 17 weeks of the Working Time Regulations.
-- It is an indicator, not legal advice: leave, sickness and opt-outs are not in the data. Approved timesheets count, except
-- those without a worker.
-- Grain: one row per worker and week, from the worker's first week to the last one read, including weeks without hours.
-- Question: Who works too many hours, in a week or on average?
-- Assumption: one calendar for all companies, which end their weeks on different days: 30 hours for each of two companies
-- are 60 hours of one week. If a timesheet ends on another day than Sunday, its hours go to the weeks of its timelogs, in
-- proportion; without timelogs they go to the week that has most of its days.
-- Rest and night work come from the timelogs of those timesheets that have a start and an end. The shifts of a day are one: from
-- the first start to the last end. Rest: 11 hours; night: 23:00 to 06:00 by the clock of the reporting zone at the start, at least 3 hours
-- for a night shift (Working Time Regulations 1998, SI 1998/1833, regulations 2 and 10, as of November 2026).
-- Sources: star.fact_timesheet, star.fact_timelog
-- Slices: worker_id
-- Measures: distinct workers = worker_id; sum net_hours, timesheets, hours_over, short_rests, night_shifts,
--   night_hours; last hours_17_weeks, weeks_averaged; ratio avg_17_week_hours = hours_17_weeks / weeks_averaged; min
--   shortest_rest_hours; none companies, sites, agencies
-- Columns:
--   worker_id text key: The worker.
--   week_ending_date date key: The Sunday that ends the week.
--   net_hours numeric(18,4): Net hours of approved timesheets, over all companies and agencies.
--   timesheets integer: Approved timesheets that have most of their days in this week; 0 in a week without hours.
--   companies integer: Different known hiring companies.
--   sites integer: Different known sites.
--   agencies integer: Different known agencies.
--   is_over_threshold boolean: Whether the week has more than 48 hours.
--   hours_over numeric(18,4): Hours beyond 48.
--   weeks_averaged integer: Weeks of the average: 17, or fewer in the worker's first weeks.
--   is_full_window boolean: Whether the average is over all 17 weeks.
--   hours_17_weeks numeric(18,4): Net hours of the 17 weeks up to this one; the numerator of avg_17_week_hours.
--   avg_17_week_hours double precision: hours_17_weeks / weeks_averaged.
--   wtr_risk text: below 44, 44 to 48, or above 48, by the average.
--   short_rests integer: Days worked in the week that began less than 11 hours after the end of the previous day worked.
--   shortest_rest_hours numeric(18,4): Fewest hours between the end of a day worked and the start of the next one, which lies in
--     the week; below 0 when they overlap, empty when none is known.
--   night_shifts integer: Days worked with at least 3 hours of night.
--   night_hours numeric(18,4): Hours between 23:00 and 06:00, breaks included.
with
-- Not materialized, although it is read several times: each reader needs few of its columns.
sheet as not materialized (
  select
    timesheet_id,
    worker_id,
    coalesce(company_id, '-1') as company_id,
    coalesce(site_id, '-1') as site_id,
    coalesce(agency_id, '-1') as agency_id,
    cast(coalesce(net_hours, 0) as numeric(18, 4)) as net_hours,
    extract(isodow from week_ending_date) = 7 as ends_on_sunday,
    week_ending_date - 3 + cast(7 - extract(isodow from week_ending_date - 3) as integer) as week_ending_date
  from star.fact_timesheet
  where status = 'approved' and not is_deleted and worker_id <> '-1' and week_ending_date is not null
    and :slice(worker_id)
),

logged as (
  select
    l.timesheet_id,
    l.work_date + cast(7 - extract(isodow from l.work_date) as integer) as week_ending_date,
    sum(l.total_hours) as hours
  from star.fact_timelog as l
  inner join sheet as s on s.timesheet_id = l.timesheet_id
  where not s.ends_on_sunday and not l.is_deleted and l.work_date is not null and l.total_hours > 0
  group by l.timesheet_id, l.work_date + cast(7 - extract(isodow from l.work_date) as integer)
),

elsewhere as (
  select
    s.timesheet_id,
    l.week_ending_date,
    cast(round(s.net_hours * l.hours / sum(l.hours) over (partition by l.timesheet_id), 4) as numeric(18, 4)) as net_hours,
    s.week_ending_date as most_of_it
  from logged as l
  inner join sheet as s on s.timesheet_id = l.timesheet_id and not s.ends_on_sunday
),

moved as (
  select e.timesheet_id, sum(e.net_hours) as net_hours
  from elsewhere as e
  where e.week_ending_date <> e.most_of_it
  group by e.timesheet_id
),

-- Integers stand for workers and places: ten million weeks with text ids did not fit the memory of DuckDB. Materialized,
-- since the numbering is arbitrary.
worker_number as materialized (
  select named.worker_id, cast(:number(worker_id) as integer) as worker
  from (select distinct worker_id from sheet) as named
),

place as materialized (
  select named.company_id, named.site_id, named.agency_id, cast(:number(company_id, site_id, agency_id) as integer) as place
  from (select distinct company_id, site_id, agency_id from sheet) as named
),

part as materialized (
  select
    n.worker,
    s.week_ending_date,
    p.place,
    cast(s.net_hours - coalesce(m.net_hours, 0) as numeric(18, 4)) as net_hours,
    1 as timesheets
  from sheet as s
  inner join worker_number as n on n.worker_id = s.worker_id
  inner join place as p on p.company_id = s.company_id and p.site_id = s.site_id and p.agency_id = s.agency_id
  left join moved as m on m.timesheet_id = s.timesheet_id
  union all
  select n.worker, e.week_ending_date, p.place, e.net_hours, 0 as timesheets
  from elsewhere as e
  inner join sheet as s on s.timesheet_id = e.timesheet_id and not s.ends_on_sunday
  inner join worker_number as n on n.worker_id = s.worker_id
  inner join place as p on p.company_id = s.company_id and p.site_id = s.site_id and p.agency_id = s.agency_id
  where e.week_ending_date <> e.most_of_it
),

-- Seconds from the midnight before the start; nights are 23:00 to 06:00, of the night before, this one and the next.
shift as (
  select
    n.worker,
    l.work_date,
    l.start_at,
    l.end_at,
    cast(extract(epoch from (:local(l.start_at) - date_trunc('day', :local(l.start_at)))) as double precision) as from_second,
    cast(extract(epoch from (:local(l.start_at) - date_trunc('day', :local(l.start_at)))) as double precision)
      + cast(extract(epoch from (l.end_at - l.start_at)) as double precision) as to_second
  from star.fact_timelog as l
  inner join sheet as s on s.timesheet_id = l.timesheet_id
  inner join worker_number as n on n.worker_id = s.worker_id
  where not l.is_deleted and l.work_date is not null and l.end_at > l.start_at
),

workday as (
  select
    worker,
    work_date,
    min(start_at) as began_at,
    max(end_at) as ended_at,
    sum(
      greatest(least(to_second, 21600) - greatest(from_second, -3600), 0)
        + greatest(least(to_second, 108000) - greatest(from_second, 82800), 0)
        + greatest(least(to_second, 194400) - greatest(from_second, 169200), 0)
    ) as night_seconds
  from shift
  group by worker, work_date
),

rested as (
  select
    w.worker,
    w.work_date,
    w.night_seconds,
    cast(extract(epoch from (
      w.began_at - lag(w.ended_at) over (partition by w.worker order by w.work_date)
    )) as double precision) as rest_seconds
  from workday as w
),

rest as (
  select
    r.worker,
    r.work_date + cast(7 - extract(isodow from r.work_date) as integer) as week_ending_date,
    count(case when r.rest_seconds < 39600 then 1 end) as short_rests,
    min(r.rest_seconds) as shortest_rest,
    count(case when r.night_seconds >= 10800 then 1 end) as night_shifts,
    sum(r.night_seconds) as night_seconds
  from rested as r
  group by r.worker, r.work_date + cast(7 - extract(isodow from r.work_date) as integer)
),

-- Nearly every worker has one timesheet a week; only the others need a sum.
several as materialized (
  select worker, week_ending_date
  from part
  group by worker, week_ending_date
  having count(*) > 1
),

worked as not materialized (
  select
    part.worker,
    part.week_ending_date,
    part.net_hours,
    part.timesheets,
    case when place.company_id <> '-1' then 1 else 0 end as companies,
    case when place.site_id <> '-1' then 1 else 0 end as sites,
    case when place.agency_id <> '-1' then 1 else 0 end as agencies
  from part
  inner join place on place.place = part.place
  left join several on several.worker = part.worker and several.week_ending_date = part.week_ending_date
  where several.worker is null
  union all
  select
    part.worker,
    part.week_ending_date,
    cast(sum(part.net_hours) as numeric(18, 4)) as net_hours,
    cast(sum(part.timesheets) as integer) as timesheets,
    cast(count(distinct nullif(place.company_id, '-1')) as integer) as companies,
    cast(count(distinct nullif(place.site_id, '-1')) as integer) as sites,
    cast(count(distinct nullif(place.agency_id, '-1')) as integer) as agencies
  from part
  inner join place on place.place = part.place
  inner join several on several.worker = part.worker and several.week_ending_date = part.week_ending_date
  group by part.worker, part.week_ending_date
),

-- The last week with hours: timesheets of future weeks must not add empty weeks for every worker.
last_read as (
  select least(
    max(worked.week_ending_date), cast(:today as date) + cast(7 - extract(isodow from cast(:today as date)) as integer)
  ) as week_ending_date
  from (
    select week_ending_date - 3 + cast(7 - extract(isodow from week_ending_date - 3) as integer) as week_ending_date
    from star.fact_timesheet
    where status = 'approved' and not is_deleted and worker_id <> '-1'
    union all
    select l.work_date + cast(7 - extract(isodow from l.work_date) as integer) as week_ending_date
    from star.fact_timelog as l
    inner join star.fact_timesheet as t on t.timesheet_id = l.timesheet_id
    where t.status = 'approved' and not t.is_deleted and t.worker_id <> '-1' and extract(isodow from t.week_ending_date) <> 7
      and not l.is_deleted and l.total_hours > 0
  ) as worked
),

following as (
  select
    w.worker,
    w.week_ending_date,
    coalesce(
      lead(w.week_ending_date) over (partition by w.worker order by w.week_ending_date), l.week_ending_date + 7
    ) as next_week_ending_date
  from worked as w
  cross join last_read as l
),

-- Materialized: PostgreSQL would otherwise divide again for each week that it tries.
gap as materialized (
  select worker, week_ending_date, cast(:days(next_week_ending_date, week_ending_date) / 7.0 as integer) - 1 as weeks
  from following
  where :days(next_week_ending_date, week_ending_date) > 7
),

week as (
  select worker, week_ending_date, net_hours, timesheets, companies, sites, agencies
  from worked
  union all
  select
    gap.worker,
    gap.week_ending_date + 7 * cast(step.n as integer) as week_ending_date,
    cast(0 as numeric(18, 4)) as net_hours,
    0 as timesheets,
    0 as companies,
    0 as sites,
    0 as agencies
  from gap
  inner join (
    select series.n
    from generate_series(1, 1000) as series (n)
    where series.n <= (select max(longest.weeks) from gap as longest)
  ) as step on step.n <= gap.weeks
),

averaged as (
  select
    week.*,
    cast(sum(net_hours) over (
      partition by worker order by week_ending_date range between interval '118 days' preceding and current row
    ) as numeric(18, 4)) as hours_17_weeks,
    cast(least(
      17,
      cast(:days(week_ending_date, min(week_ending_date) over (partition by worker)) / 7.0 as integer) + 1
    ) as integer) as weeks_averaged
  from week
),

-- Sorted by week: reading the last four of 156 weeks reads a fortieth of the table. Sorted before anything is added to the
-- rows, as ten million wider rows did not fit the memory of DuckDB.
ordered as (
  select * from averaged order by week_ending_date, worker
)

select
  n.worker_id,
  ordered.week_ending_date,
  net_hours,
  timesheets,
  companies,
  sites,
  agencies,
  net_hours > 48 as is_over_threshold,
  greatest(net_hours - 48, 0) as hours_over,
  weeks_averaged,
  weeks_averaged = 17 as is_full_window,
  hours_17_weeks,
  cast(hours_17_weeks as double precision) / weeks_averaged as avg_17_week_hours,
  case
    when hours_17_weeks > 48 * weeks_averaged then 'above 48'
    when hours_17_weeks >= 44 * weeks_averaged then '44 to 48'
    else 'below 44'
  end as wtr_risk,
  coalesce(rest.short_rests, 0) as short_rests,
  rest.shortest_rest / 3600.0 as shortest_rest_hours,
  coalesce(rest.night_shifts, 0) as night_shifts,
  coalesce(rest.night_seconds, 0) / 3600.0 as night_hours
from ordered
inner join worker_number as n on n.worker = ordered.worker
left join rest on rest.worker = n.worker and rest.week_ending_date = ordered.week_ending_date;
