-- How long each worker has worked for a company in a trade, and how near that is to the 12 weeks after which the Agency
-- Workers Regulations ask for equal pay; an indicator and no legal advice. A week counts when it has approved hours,
-- through whichever agency; a break of up to 6 weeks pauses the count, a longer one begins it anew. What else pauses or
-- keeps a count, such as sickness, is not in the data.
-- Grain: one row per worker, company and trade.
-- Question: Who is long with us, and who comes near 12 weeks?
-- Sources: star.fact_assignment, star.fact_rate, star.fact_timesheet
-- Columns:
--   worker_id text key: The worker.
--   company_id text key: The hiring company; '-1' when the record names none.
--   trade_id text key: The trade of the assignments; '-1' when it is not known.
--   agencies integer: Different agencies in all weeks.
--   first_week_ending_date date: The first week with hours.
--   last_week_ending_date date: The last week with hours.
--   weeks_worked integer: Weeks with hours, breaks of any length between them.
--   net_hours numeric(18,4): Net hours of those weeks.
--   tenure_band text: under 4, 4 to 11, 12 to 25, 26 to 51, or 52 and more weeks worked.
--   awr_start_week_ending_date date: The first week that counts: the one after the last break of more than 6 weeks.
--   awr_week_count integer: Weeks with hours since then.
--   is_awr_qualified boolean: Whether 12 weeks are complete.
--   awr_qualifies_on date: Day after the 12th week; while it is not complete, the day if every week from the last one on is worked.
--   is_awr_clock_running boolean: Whether the last week lies at most 6 weeks back; otherwise the count has ended.
--   latest_assignment_id text: The assignment of the last week.
--   pay_rate numeric(18,4): Hourly pay of that assignment; empty when it is paid by the day.
--   comparable_pay_rate numeric(18,4): Comparable hourly pay of the rate card that fits it best; empty when none is known.
--   comparable_pay_gap numeric(18,4): comparable_pay_rate - pay_rate: above 0 when the worker gets less.
with sheet as (
  select
    t.worker_id,
    t.company_id,
    coalesce(a.trade_id, '-1') as trade_id,
    t.agency_id,
    t.week_ending_date,
    t.net_hours,
    t.assignment_id
  from star.fact_timesheet as t
  left join star.fact_assignment as a on a.assignment_id = t.assignment_id
  where t.status = 'approved' and not t.is_deleted and t.net_hours > 0 and t.worker_id <> '-1'
    and t.week_ending_date is not null
),

week as (
  select worker_id, company_id, trade_id, week_ending_date, sum(net_hours) as net_hours, max(assignment_id) as assignment_id
  from sheet
  group by worker_id, company_id, trade_id, week_ending_date
),

gapped as (
  select
    week.*,
    floor((week_ending_date - lag(week_ending_date) over (
      partition by worker_id, company_id, trade_id order by week_ending_date
    )) / 7.0) - 1 as weeks_off
  from week
),

stretched as (
  select
    gapped.*,
    sum(case when weeks_off > 6 then 1 else 0 end) over (
      partition by worker_id, company_id, trade_id order by week_ending_date
    ) as stretch
  from gapped
),

numbered as (
  select
    stretched.*,
    row_number() over (
      partition by worker_id, company_id, trade_id, stretch order by week_ending_date
    ) as week_number,
    max(stretch) over (partition by worker_id, company_id, trade_id) as last_stretch,
    row_number() over (
      partition by worker_id, company_id, trade_id order by week_ending_date desc
    ) as place_from_end
  from stretched
),

tenure as (
  select
    worker_id,
    company_id,
    trade_id,
    min(week_ending_date) as first_week,
    max(week_ending_date) as last_week,
    count(*) as weeks_worked,
    sum(net_hours) as net_hours,
    min(case when stretch = last_stretch then week_ending_date end) as awr_start,
    count(case when stretch = last_stretch then 1 end) as awr_weeks,
    min(case when stretch = last_stretch and week_number = 12 then week_ending_date end) as twelfth_week,
    max(case when place_from_end = 1 then assignment_id end) as assignment_id
  from numbered
  group by worker_id, company_id, trade_id
),

agencies as (
  select worker_id, company_id, trade_id, count(distinct agency_id) as agencies
  from sheet
  group by worker_id, company_id, trade_id
),

-- The most particular card first, as for what is charged.
comparable as (
  select
    a.assignment_id,
    r.comparable_pay_rate,
    row_number() over (
      partition by a.assignment_id
      order by
        case when r.project_id <> '-1' then 0 else 1 end,
        case when r.agency_id <> '-1' then 0 else 1 end,
        case when r.region_id <> '-1' then 0 else 1 end + case when r.sector_id <> '-1' then 0 else 1 end,
        r.source_updated_at desc nulls last,
        r.rate_id
    ) as place
  from star.fact_assignment as a
  inner join star.fact_rate as r
    on r.trade_id = a.trade_id and r.rate_type = a.rate_type and r.company_id in (a.company_id, '-1')
      and r.project_id in (a.project_id, '-1') and r.agency_id in (a.agency_id, '-1')
      and r.region_id in (a.region_id, '-1') and r.sector_id in (a.sector_id, '-1')
  where r.basis = 'hourly' and not r.is_deleted and r.comparable_pay_rate is not null and a.trade_id <> '-1'
    and a.pay_type = 'hourly'
)

select
  t.worker_id,
  t.company_id,
  t.trade_id,
  g.agencies,
  t.first_week as first_week_ending_date,
  t.last_week as last_week_ending_date,
  t.weeks_worked,
  t.net_hours,
  case
    when t.weeks_worked >= 52 then '52 and more'
    when t.weeks_worked >= 26 then '26 to 51'
    when t.weeks_worked >= 12 then '12 to 25'
    when t.weeks_worked >= 4 then '4 to 11'
    else 'under 4'
  end as tenure_band,
  t.awr_start as awr_start_week_ending_date,
  t.awr_weeks as awr_week_count,
  t.awr_weeks >= 12 as is_awr_qualified,
  case
    when t.awr_weeks >= 12 then t.twelfth_week + 1
    else t.last_week + 7 * cast(12 - t.awr_weeks as integer) + 1
  end as awr_qualifies_on,
  :today - t.last_week <= 42 as is_awr_clock_running,
  coalesce(t.assignment_id, '-1') as latest_assignment_id,
  case when a.pay_type = 'hourly' then a.pay_rate end as pay_rate,
  c.comparable_pay_rate,
  c.comparable_pay_rate - a.pay_rate as comparable_pay_gap
from tenure as t
inner join agencies as g
  on g.worker_id = t.worker_id and g.company_id = t.company_id and g.trade_id = t.trade_id
left join star.fact_assignment as a on a.assignment_id = t.assignment_id
left join comparable as c on c.assignment_id = t.assignment_id and c.place = 1;
