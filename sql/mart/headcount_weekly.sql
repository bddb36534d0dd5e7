-- Assignments that begin, run and end week by week, and the workers with hours: active_start + starters - leavers =
-- active_end. Weeks are those of the company's timesheets. Assignments count once they are confirmed, until the
-- day they were completed or ended, else until the planned end; hours are those of approved timesheets.
-- Grain: one row per week ending, company, project, trade, agency and engagement type.
-- Question: How many people are on site, and how does that change?
-- Sources: star.fact_assignment, star.fact_timesheet
-- Measures: last active_start, active_end; none worked_headcount
-- Columns:
--   week_ending_date date key: Last day of the week, as the company counts weeks.
--   company_id text key: The hiring company; '-1' when the record names none.
--   project_id text key: The project; '-1' when the record names none.
--   trade_id text key: The trade of the assignment; '-1' when it is not known.
--   agency_id text key: The agency; '-1' when the record names none.
--   rate_type text key: Engagement type: cis, paye or psc; unknown when the record names none.
--   active_start integer: Assignments that had begun before the week and reached into it.
--   starters integer: Assignments that began in the week.
--   leavers integer: Assignments whose last day lies in the week.
--   active_end integer: Assignments that had begun and went on after the week.
--   worked_headcount integer: Different workers with hours; not additive over groups, as one may work in several.
--   net_hours numeric(18,4): Net hours of approved timesheets; the numerator of FTE.
--   fte double precision: Full-time equivalents: net_hours / 40.
with week as (
  select distinct company_id, week_ending_date
  from star.fact_timesheet
  where not is_deleted and week_ending_date is not null
),

-- Include: engagement

-- One that ended before it began was there for its first day.
span as (
  select
    e.company_id,
    e.project_id,
    e.trade_id,
    e.agency_id,
    coalesce(e.rate_type, 'unknown') as rate_type,
    e.start_date,
    case when e.last_date < e.start_date then e.start_date else e.last_date end as last_date
  from engagement as e
  where e.start_date is not null
),

measured as (
  select
    week.week_ending_date,
    span.company_id,
    span.project_id,
    span.trade_id,
    span.agency_id,
    span.rate_type,
    count(case when span.start_date < week.week_ending_date - 6 then 1 end) as active_start,
    count(case when span.start_date >= week.week_ending_date - 6 then 1 end) as starters,
    count(case when span.last_date <= week.week_ending_date then 1 end) as leavers,
    count(case when span.last_date is null or span.last_date > week.week_ending_date then 1 end) as active_end,
    0 as worked_headcount,
    cast(0 as numeric(18, 4)) as net_hours
  from week
  inner join span
    on span.company_id = week.company_id and span.start_date <= week.week_ending_date
      and (span.last_date is null or span.last_date >= week.week_ending_date - 6)
  group by
    week.week_ending_date, span.company_id, span.project_id, span.trade_id, span.agency_id, span.rate_type
  union all
  select
    t.week_ending_date,
    t.company_id,
    t.project_id,
    coalesce(a.trade_id, '-1') as trade_id,
    t.agency_id,
    coalesce(t.rate_type, 'unknown') as rate_type,
    0 as active_start,
    0 as starters,
    0 as leavers,
    0 as active_end,
    count(distinct case when t.net_hours > 0 and t.worker_id <> '-1' then t.worker_id end) as worked_headcount,
    cast(sum(coalesce(t.net_hours, 0)) as numeric(18, 4)) as net_hours
  from star.fact_timesheet as t
  left join star.fact_assignment as a on a.assignment_id = t.assignment_id
  where not t.is_deleted and t.status = 'approved' and t.week_ending_date is not null
  group by
    t.week_ending_date, t.company_id, t.project_id, coalesce(a.trade_id, '-1'), t.agency_id,
    coalesce(t.rate_type, 'unknown')
)

select
  week_ending_date,
  company_id,
  project_id,
  trade_id,
  agency_id,
  rate_type,
  sum(active_start) as active_start,
  sum(starters) as starters,
  sum(leavers) as leavers,
  sum(active_end) as active_end,
  sum(worked_headcount) as worked_headcount,
  sum(net_hours) as net_hours,
  cast(sum(net_hours) as double precision) / 40.0 as fte
from measured
group by week_ending_date, company_id, project_id, trade_id, agency_id, rate_type;
