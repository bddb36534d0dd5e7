-- Assignments and workers week by week, also in weeks without timesheets: active_start + assignments_begun -
-- assignments_ended = active_end, and opening_workers + starters - leavers = closing_workers. Assignments count once they
-- are confirmed, until the day they were completed or ended, else until the planned end; hours are those of approved
-- timesheets, but for pending_hours.
-- Grain: one row per week ending, company, project, trade, agency and engagement type.
-- Question: How many people are on site, and how does that change?
-- Assumption: the weeks of a company end on the weekday on which most of its timesheets end, else on the configured one,
-- else on Sunday; a timesheet that ends on another day counts in the week that contains the day. Weeks run to the current
-- one, or to that of the last timesheet if it is later.
-- Sources: star.dim_company, star.dim_date, star.fact_assignment, star.fact_timesheet
-- Measures: first active_start; last assignments, active_end, fte; sum assignments_begun, assignments_ended, net_hours,
--   pending_hours, approved_and_pending_hours; none workers, opening_workers, starters, leavers, closing_workers,
--   worked_headcount; ratio approved_share = net_hours / approved_and_pending_hours
-- Columns:
--   week_ending_date date key: Last day of the week, as the company counts weeks.
--   company_id text key: The hiring company; '-1' when the record names none.
--   project_id text key: The project; '-1' when the record names none.
--   trade_id text key: The trade of the assignment; '-1' when it is not known.
--   agency_id text key: The agency; '-1' when the record names none.
--   rate_type text key: Engagement type: cis, paye or psc; unknown when the record names none.
--   assignments integer: Assignments on any day of the week.
--   active_start integer: Assignments that had begun before the week and reached into it.
--   assignments_begun integer: Assignments that began in the week.
--   assignments_ended integer: Assignments whose last day lies in the week.
--   active_end integer: Assignments that had begun and continued after the week.
--   workers integer: Different workers with an assignment on any day of the week; not additive over groups, as one may work in
--     several.
--   opening_workers integer: Different workers with an assignment on the day before the week.
--   starters integer: Workers with an assignment on any day of the week, but with none on the day before it.
--   leavers integer: Workers with an assignment on the day before the week or on any day of it, but with none on its last day.
--   closing_workers integer: Different workers with an assignment on the last day of the week: opening_workers + starters -
--     leavers.
--   worked_headcount integer: Different workers with hours; not additive over groups, as one may work in several.
--   net_hours numeric(18,4): Net hours of approved timesheets; the numerator of FTE.
--   fte double precision: Full-time equivalents of the week: net_hours divided by 40.
--   pending_hours numeric(18,4): Net hours of timesheets that wait for submission or approval.
--   approved_and_pending_hours numeric(18,4): Sum of net_hours and pending_hours; the denominator of approved_share.
--   approved_share double precision: Approved share by hours: net_hours / approved_and_pending_hours; empty where there are
--     none.
with
-- Include: engagement

-- An assignment that ended before it began counts on its first day.
span as (
  select
    e.company_id,
    e.project_id,
    e.trade_id,
    e.agency_id,
    coalesce(e.rate_type, 'unknown') as rate_type,
    nullif(e.worker_id, '-1') as worker_id,
    e.start_date,
    case when e.last_date < e.start_date then e.start_date else e.last_date end as last_date
  from engagement as e
  where e.start_date is not null
),

weekday_count as (
  select t.company_id, cast(extract(isodow from t.week_ending_date) as integer) as weekday, count(*) as timesheets
  from star.fact_timesheet as t
  where not t.is_deleted and t.week_ending_date is not null
  group by t.company_id, cast(extract(isodow from t.week_ending_date) as integer)
),

usual_weekday as (
  select n.company_id, n.weekday, row_number() over (partition by n.company_id order by n.timesheets desc, n.weekday) as place
  from weekday_count as n
),

bound as (
  select d.company_id, min(d.first_date) as first_date, greatest(max(d.last_date), :today) as last_date
  from (
    select s.company_id, s.start_date as first_date, :today as last_date from span as s where s.start_date <= :today
    union all
    select t.company_id, t.week_ending_date - 6 as first_date, t.week_ending_date as last_date
    from star.fact_timesheet as t
    where not t.is_deleted and t.week_ending_date is not null
  ) as d
  group by d.company_id
),

calendar as (
  select
    b.company_id,
    b.first_date,
    b.last_date,
    coalesce(u.weekday, case lower(c.weekend_day)
      when 'monday' then 1 when 'tuesday' then 2 when 'wednesday' then 3 when 'thursday' then 4
      when 'friday' then 5 when 'saturday' then 6 else 7
    end, 7) as weekday
  from bound as b
  left join usual_weekday as u on u.company_id = b.company_id and u.place = 1
  left join star.dim_company as c on c.company_id = b.company_id
),

week as (
  select c.company_id, d.date_day as week_ending_date
  from calendar as c
  inner join star.dim_date as d
    on d.day_of_week_iso = c.weekday and d.date_day >= c.first_date and d.date_day <= c.last_date + 6
),

worked as (
  select
    t.week_ending_date + cast((7 + c.weekday - cast(extract(isodow from t.week_ending_date) as integer)) % 7 as integer)
      as week_ending_date,
    t.company_id,
    t.project_id,
    coalesce(a.trade_id, '-1') as trade_id,
    t.agency_id,
    coalesce(t.rate_type, 'unknown') as rate_type,
    t.worker_id,
    case when t.status = 'approved' then coalesce(t.net_hours, 0) else 0 end as net_hours,
    case when t.status = 'approved' then 0 else coalesce(t.net_hours, 0) end as pending_hours
  from star.fact_timesheet as t
  inner join calendar as c on c.company_id = t.company_id
  left join star.fact_assignment as a on a.assignment_id = t.assignment_id
  where not t.is_deleted and t.status in ('approved', 'pending', 'pending_approval') and t.week_ending_date is not null
),

-- Integers stand for places and workers, whose text ids repeat every week. Materialized, since the numbering is arbitrary.
place as materialized (
  select
    named.company_id, named.project_id, named.trade_id, named.agency_id, named.rate_type, :number(company_id, project_id, trade_id, agency_id, rate_type) as place
  from (
    select s.company_id, s.project_id, s.trade_id, s.agency_id, s.rate_type from span as s
    union
    select w.company_id, w.project_id, w.trade_id, w.agency_id, w.rate_type from worked as w
  ) as named
),

worker_number as materialized (
  select named.worker_id, :number(worker_id) as worker
  from (
    select s.worker_id from span as s
    union
    select t.worker_id from star.fact_timesheet as t where t.worker_id <> '-1'
  ) as named
),

numbered_span as (
  select p.place, p.company_id, n.worker, s.start_date, s.last_date
  from span as s
  inner join place as p on p.company_id = s.company_id and p.project_id = s.project_id and p.trade_id = s.trade_id
    and p.agency_id = s.agency_id and p.rate_type = s.rate_type
  left join worker_number as n on n.worker_id = s.worker_id
),

present as (
  select
    w.week_ending_date,
    s.place,
    s.worker,
    s.start_date <= w.week_ending_date - 7 as is_opening,
    s.last_date is null or s.last_date >= w.week_ending_date - 6 as is_in_week,
    s.last_date is null or s.last_date >= w.week_ending_date as is_closing,
    s.last_date is null or s.last_date > w.week_ending_date as goes_on
  from numbered_span as s
  inner join week as w
    on w.company_id = s.company_id and s.start_date <= w.week_ending_date
      and (s.last_date is null or s.last_date >= w.week_ending_date - 7)
),

worker as (
  select
    week_ending_date, place, worker,
    bool_or(is_opening) as is_opening, bool_or(is_in_week) as is_in_week, bool_or(is_closing) as is_closing
  from present
  where worker is not null
  group by week_ending_date, place, worker
),

worked_by_worker as (
  select
    w.week_ending_date, p.place, n.worker, sum(w.net_hours) as net_hours, sum(w.pending_hours) as pending_hours,
    bool_or(w.net_hours > 0) as has_hours
  from worked as w
  inner join place as p on p.company_id = w.company_id and p.project_id = w.project_id and p.trade_id = w.trade_id
    and p.agency_id = w.agency_id and p.rate_type = w.rate_type
  left join worker_number as n on n.worker_id = w.worker_id
  group by w.week_ending_date, p.place, n.worker
),

-- Counts are integers: PostgreSQL adds up bigints as numerics, which takes far longer.
measured as (
  select
    week_ending_date, place,
    cast(count(case when is_in_week then 1 end) as integer) as assignments,
    cast(count(case when is_in_week and is_opening then 1 end) as integer) as active_start,
    cast(count(case when not is_opening then 1 end) as integer) as assignments_begun,
    cast(count(case when is_in_week and not goes_on then 1 end) as integer) as assignments_ended,
    cast(count(case when goes_on then 1 end) as integer) as active_end,
    0 as workers,
    0 as opening_workers,
    0 as starters,
    0 as leavers,
    0 as closing_workers,
    0 as worked_headcount,
    cast(0 as numeric(18, 4)) as net_hours,
    cast(0 as numeric(18, 4)) as pending_hours
  from present
  group by week_ending_date, place
  union all
  select
    week_ending_date, place,
    0 as assignments,
    0 as active_start,
    0 as assignments_begun,
    0 as assignments_ended,
    0 as active_end,
    cast(count(case when is_in_week then 1 end) as integer) as workers,
    cast(count(case when is_opening then 1 end) as integer) as opening_workers,
    cast(count(case when is_in_week and not is_opening then 1 end) as integer) as starters,
    cast(count(case when not is_closing then 1 end) as integer) as leavers,
    cast(count(case when is_closing then 1 end) as integer) as closing_workers,
    0 as worked_headcount,
    cast(0 as numeric(18, 4)) as net_hours,
    cast(0 as numeric(18, 4)) as pending_hours
  from worker
  group by week_ending_date, place
  union all
  select
    week_ending_date, place,
    0 as assignments,
    0 as active_start,
    0 as assignments_begun,
    0 as assignments_ended,
    0 as active_end,
    0 as workers,
    0 as opening_workers,
    0 as starters,
    0 as leavers,
    0 as closing_workers,
    cast(count(case when has_hours and worker is not null then 1 end) as integer) as worked_headcount,
    cast(sum(net_hours) as numeric(18, 4)) as net_hours,
    cast(sum(pending_hours) as numeric(18, 4)) as pending_hours
  from worked_by_worker
  group by week_ending_date, place
)

select
  m.week_ending_date,
  p.company_id,
  p.project_id,
  p.trade_id,
  p.agency_id,
  p.rate_type,
  sum(m.assignments) as assignments,
  sum(m.active_start) as active_start,
  sum(m.assignments_begun) as assignments_begun,
  sum(m.assignments_ended) as assignments_ended,
  sum(m.active_end) as active_end,
  sum(m.workers) as workers,
  sum(m.opening_workers) as opening_workers,
  sum(m.starters) as starters,
  sum(m.leavers) as leavers,
  sum(m.closing_workers) as closing_workers,
  sum(m.worked_headcount) as worked_headcount,
  sum(m.net_hours) as net_hours,
  cast(sum(m.net_hours) as double precision) / 40.0 as fte,
  sum(m.pending_hours) as pending_hours,
  sum(m.net_hours + m.pending_hours) as approved_and_pending_hours,
  cast(sum(m.net_hours) as double precision) / nullif(cast(sum(m.net_hours + m.pending_hours) as double precision), 0)
    as approved_share
from measured as m
inner join place as p on p.place = m.place
group by m.week_ending_date, p.company_id, p.project_id, p.trade_id, p.agency_id, p.rate_type;
