-- Workers of each week from Monday to Sunday, each counted once in its group: over all companies, or in a company, project,
-- trade or agency. opening_workers + starters - leavers = closing_workers. Assignments count as in mart.headcount_weekly, whose
-- rows count a worker once in each combination.
-- Grain: one row per week, grouping and group.
-- Question: How many different people are on site, counted once?
-- Assumption: one calendar for all companies. A timesheet belongs to the week that has most of its days. Weeks run to the
-- current one.
-- Groups: group_by all, company, project, trade, agency
-- Sources: star.dim_date, star.fact_assignment, star.fact_timesheet
-- Measures: first opening_workers within group_key; last workers, closing_workers, worked_headcount within group_key;
--   sum starters, leavers within group_key; sum net_hours, pending_hours, approved_and_pending_hours; ratio approved_share =
--   net_hours / approved_and_pending_hours
-- Columns:
--   group_by text key: Grouping: all, company, project, trade or agency. Rows of different groupings repeat each other.
--   group_key text key: Id of the group; empty for all.
--   week_ending_date date key: The Sunday that ends the week.
--   company_id text: Company of the group, where grouped by company.
--   project_id text: Project of the group, where grouped by project.
--   trade_id text: Trade of the group, where grouped by trade.
--   agency_id text: Agency of the group, where grouped by agency.
--   workers integer: Different workers with an assignment on any day of the week.
--   opening_workers integer: Different workers with an assignment on the day before the week.
--   starters integer: Workers with an assignment on any day of the week, but with none on the day before it.
--   leavers integer: Workers with an assignment on the day before the week or on any day of it, but with none on its last day.
--   closing_workers integer: Different workers with an assignment on the last day of the week.
--   worked_headcount integer: Different workers with hours on approved timesheets.
--   net_hours numeric(18,4): Net hours of approved timesheets, also of those that name no worker.
--   pending_hours numeric(18,4): Net hours of timesheets that wait for submission or approval.
--   approved_and_pending_hours numeric(18,4): Sum of net_hours and pending_hours; the denominator of approved_share.
--   approved_share double precision: Approved share by hours: net_hours / approved_and_pending_hours; empty where there are
--     none.
with
-- Include: engagement

span as (
  select
    e.company_id,
    e.project_id,
    e.trade_id,
    e.agency_id,
    e.worker_id,
    e.start_date,
    case when e.last_date < e.start_date then e.start_date else e.last_date end as last_date
  from engagement as e
  where e.start_date is not null and e.worker_id <> '-1'
),

worked as (
  select
    t.week_ending_date - 3 + cast(7 - extract(isodow from t.week_ending_date - 3) as integer) as week_ending_date,
    t.company_id,
    t.project_id,
    coalesce(a.trade_id, '-1') as trade_id,
    t.agency_id,
    t.worker_id,
    case when t.status = 'approved' then coalesce(t.net_hours, 0) else 0 end as net_hours,
    case when t.status = 'approved' then 0 else coalesce(t.net_hours, 0) end as pending_hours
  from star.fact_timesheet as t
  left join star.fact_assignment as a on a.assignment_id = t.assignment_id
  where not t.is_deleted and t.status in ('approved', 'pending', 'pending_approval')
),

week as (
  select d.date_day as week_ending_date
  from star.dim_date as d
  where d.day_of_week_iso = 7 and d.date_day < :today + 7 and d.date_day >= (
    select least(min(first.day), :today)
    from (
      select s.start_date as day from span as s
      union all
      select w.week_ending_date from worked as w
    ) as first
  )
),

-- Integers stand for places, groups and workers, as in mart.headcount_weekly. Materialized, since the numbering is arbitrary.
place as materialized (
  select named.company_id, named.project_id, named.trade_id, named.agency_id, :number(company_id, project_id, trade_id, agency_id) as place
  from (
    select s.company_id, s.project_id, s.trade_id, s.agency_id from span as s
    union
    select w.company_id, w.project_id, w.trade_id, w.agency_id from worked as w
  ) as named
),

worker_number as materialized (
  select named.worker_id, :number(worker_id) as worker
  from (
    select s.worker_id from span as s
    union
    select w.worker_id from worked as w where w.worker_id <> '-1'
  ) as named
),

named_group as (
  select p.place, 'all' as group_by, '' as group_key from place as p
  union all
  select p.place, 'company' as group_by, p.company_id as group_key from place as p
  union all
  select p.place, 'project' as group_by, p.project_id as group_key from place as p
  union all
  select p.place, 'trade' as group_by, p.trade_id as group_key from place as p
  union all
  select p.place, 'agency' as group_by, p.agency_id as group_key from place as p
),

group_number as materialized (
  select n.group_by, n.group_key, :number(group_by, group_key) as number
  from (select distinct g.group_by, g.group_key from named_group as g) as n
),

place_group as materialized (
  select n.place, g.number
  from named_group as n
  inner join group_number as g on g.group_by = n.group_by and g.group_key = n.group_key
),

present as (
  select
    w.week_ending_date,
    p.place,
    n.worker,
    bool_or(s.start_date <= w.week_ending_date - 7) as is_opening,
    bool_or(s.last_date is null or s.last_date >= w.week_ending_date - 6) as is_in_week,
    bool_or(s.last_date is null or s.last_date >= w.week_ending_date) as is_closing
  from span as s
  inner join place as p
    on p.company_id = s.company_id and p.project_id = s.project_id and p.trade_id = s.trade_id and p.agency_id = s.agency_id
  inner join worker_number as n on n.worker_id = s.worker_id
  inner join week as w
    on s.start_date <= w.week_ending_date and (s.last_date is null or s.last_date >= w.week_ending_date - 7)
  group by w.week_ending_date, p.place, n.worker
),

once as (
  select
    p.week_ending_date,
    g.number,
    p.worker,
    bool_or(p.is_opening) as is_opening,
    bool_or(p.is_in_week) as is_in_week,
    bool_or(p.is_closing) as is_closing
  from present as p
  inner join place_group as g on g.place = p.place
  group by p.week_ending_date, g.number, p.worker
),

busy as (
  select w.week_ending_date, g.number, n.worker, sum(w.net_hours) as net_hours, sum(w.pending_hours) as pending_hours
  from worked as w
  inner join week on week.week_ending_date = w.week_ending_date
  inner join place as p
    on p.company_id = w.company_id and p.project_id = w.project_id and p.trade_id = w.trade_id and p.agency_id = w.agency_id
  inner join place_group as g on g.place = p.place
  left join worker_number as n on n.worker_id = w.worker_id
  group by w.week_ending_date, g.number, n.worker
),

measured as (
  select
    week_ending_date, number,
    cast(count(case when is_in_week then 1 end) as integer) as workers,
    cast(count(case when is_opening then 1 end) as integer) as opening_workers,
    cast(count(case when is_in_week and not is_opening then 1 end) as integer) as starters,
    cast(count(case when not is_closing then 1 end) as integer) as leavers,
    cast(count(case when is_closing then 1 end) as integer) as closing_workers,
    0 as worked_headcount,
    cast(0 as numeric(18, 4)) as net_hours,
    cast(0 as numeric(18, 4)) as pending_hours
  from once
  group by week_ending_date, number
  union all
  select
    week_ending_date, number,
    0 as workers,
    0 as opening_workers,
    0 as starters,
    0 as leavers,
    0 as closing_workers,
    cast(count(case when net_hours > 0 and worker is not null then 1 end) as integer) as worked_headcount,
    cast(sum(net_hours) as numeric(18, 4)) as net_hours,
    cast(sum(pending_hours) as numeric(18, 4)) as pending_hours
  from busy
  group by week_ending_date, number
)

select
  g.group_by,
  g.group_key,
  m.week_ending_date,
  case when g.group_by = 'company' then g.group_key end as company_id,
  case when g.group_by = 'project' then g.group_key end as project_id,
  case when g.group_by = 'trade' then g.group_key end as trade_id,
  case when g.group_by = 'agency' then g.group_key end as agency_id,
  sum(m.workers) as workers,
  sum(m.opening_workers) as opening_workers,
  sum(m.starters) as starters,
  sum(m.leavers) as leavers,
  sum(m.closing_workers) as closing_workers,
  sum(m.worked_headcount) as worked_headcount,
  sum(m.net_hours) as net_hours,
  sum(m.pending_hours) as pending_hours,
  sum(m.net_hours + m.pending_hours) as approved_and_pending_hours,
  cast(sum(m.net_hours) as double precision) / nullif(cast(sum(m.net_hours + m.pending_hours) as double precision), 0)
    as approved_share
from measured as m
inner join group_number as g on g.number = m.number
group by g.group_by, g.group_key, m.week_ending_date
