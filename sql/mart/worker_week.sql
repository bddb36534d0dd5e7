-- Net hours of each worker by week, with the average over 17 weeks of the Working Time Regulations; an indicator, no legal
-- advice: leave, sickness and opt-outs are not in the data. Approved timesheets count, except those without a worker.
-- Grain: one row per worker and week ending, with the weeks without hours between the first and the last.
-- Question: Who works too many hours, in a week or on average?
-- Sources: star.fact_timesheet
-- Measures: none hours_17_weeks, weeks_averaged, avg_17_week_hours
-- Columns:
--   worker_id text key: The worker.
--   week_ending_date date key: Last day of the week, as the company counts weeks.
--   net_hours numeric(18,4): Net hours of approved timesheets, over all companies and agencies.
--   timesheets integer: Approved timesheets of the week; 0 in a week without hours.
--   companies integer: Different hiring companies.
--   sites integer: Different sites.
--   agencies integer: Different agencies.
--   is_over_threshold boolean: Whether the week has more than 48 hours.
--   hours_over numeric(18,4): Hours beyond 48.
--   weeks_averaged integer: Weeks of the average: 17, or fewer in the worker's first weeks.
--   hours_17_weeks numeric(18,4): Net hours of the weeks that end within the 17 weeks up to this one; the numerator.
--   avg_17_week_hours double precision: hours_17_weeks / weeks_averaged.
--   wtr_risk text: below 44, 44 to 48, or above 48, by the average.
with worked as (
  select
    worker_id,
    week_ending_date,
    cast(sum(coalesce(net_hours, 0)) as numeric(18, 4)) as net_hours,
    count(*) as timesheets,
    count(distinct company_id) as companies,
    count(distinct site_id) as sites,
    count(distinct agency_id) as agencies
  from star.fact_timesheet
  where status = 'approved' and not is_deleted and worker_id <> '-1' and week_ending_date is not null
  group by worker_id, week_ending_date
),

following as (
  select
    worker_id,
    week_ending_date,
    lead(week_ending_date) over (partition by worker_id order by week_ending_date) as next_week_ending_date
  from worked
),

-- Few weeks are followed by a gap: only those meet the series.
gap as (
  select
    worker_id,
    week_ending_date,
    cast(floor((next_week_ending_date - week_ending_date - 1) / 7.0) as integer) as weeks
  from following
  where next_week_ending_date - week_ending_date > 7
),

week as (
  select worker_id, week_ending_date, net_hours, timesheets, companies, sites, agencies
  from worked
  union all
  select
    gap.worker_id,
    gap.week_ending_date + 7 * cast(step.n as integer) as week_ending_date,
    cast(0 as numeric(18, 4)) as net_hours,
    0 as timesheets,
    0 as companies,
    0 as sites,
    0 as agencies
  from gap
  inner join generate_series(1, 1000) as step (n) on step.n <= gap.weeks
),

averaged as (
  select
    week.*,
    cast(sum(net_hours) over (
      partition by worker_id order by week_ending_date range between interval '118 days' preceding and current row
    ) as numeric(18, 4)) as hours_17_weeks,
    cast(least(
      17,
      ceil((week_ending_date - min(week_ending_date) over (partition by worker_id)) / 7.0) + 1
    ) as integer) as weeks_averaged
  from week
)

select
  worker_id,
  week_ending_date,
  net_hours,
  timesheets,
  companies,
  sites,
  agencies,
  net_hours > 48 as is_over_threshold,
  greatest(net_hours - 48, 0) as hours_over,
  weeks_averaged,
  hours_17_weeks,
  cast(hours_17_weeks as double precision) / weeks_averaged as avg_17_week_hours,
  case
    when hours_17_weeks > 48 * weeks_averaged then 'above 48'
    when hours_17_weeks >= 44 * weeks_averaged then '44 to 48'
    else 'below 44'
  end as wtr_risk
from averaged;
