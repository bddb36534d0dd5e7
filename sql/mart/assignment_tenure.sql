-- How long each worker has worked for a company in a trade, and how near that is to the 12 weeks after which the Agency
-- Workers Regulations ask for equal pay; an indicator, not legal advice. A week counts when it has approved hours,
-- through any agency; a break of up to 6 weeks pauses the count, a longer one restarts it. Other reasons to pause or keep a
-- count, such as sickness, are not in the data.
-- Grain: one row per worker, company and trade.
-- Question: Who has been with us for long, and who is near 12 weeks?
-- Assumption: breach counts the approved timesheets of weeks after the twelfth, at the weekday pay of the timesheet, else at
-- that of its assignment, beside the comparable pay of today's card. Agency Workers Regulations 2010 (SI 2010/93), regulations
-- 5 and 7, as of November 2026. Uplifts, holiday pay and earlier counts are not compared.
-- Sources: star.fact_assignment, star.fact_rate, star.fact_timesheet
-- Measures: distinct workers = worker_id; none agencies, awr_week_count; average weeks_worked, pay_rate,
--   comparable_pay_rate, comparable_pay_gap; sum net_hours, awr_hours_after, awr_compared_hours, awr_underpaid_hours,
--   awr_underpaid_value
-- Columns:
--   worker_id text key: The worker.
--   company_id text key: The hiring company; '-1' when the record names none.
--   trade_id text key: The trade of the assignments; '-1' when it is not known.
--   agencies integer: Different known agencies over all weeks.
--   first_week_ending_date date: The first week with hours.
--   last_week_ending_date date: The last week with hours.
--   weeks_worked integer: Weeks with hours, regardless of breaks.
--   net_hours numeric(18,4): Net hours of those weeks.
--   tenure_band text: under 4, 4 to 11, 12 to 25, 26 to 51, or 52 and more weeks worked.
--   awr_start_week_ending_date date: The first week that counts: the one after the last break of more than 6 weeks.
--   awr_week_count integer: Weeks with hours since then.
--   is_awr_qualified boolean: Whether 12 weeks are complete.
--   awr_qualifies_on date: Day after the 12th week; before that, the earliest day possible, if every week after the last
--     one is worked.
--   is_awr_clock_running boolean: Whether the last week is at most 6 weeks ago; otherwise the count has ended.
--   latest_assignment_id text: The assignment of the last week; '-1' when the timesheets of the last week name none.
--   pay_rate numeric(18,4): Hourly pay of that assignment; empty when it is paid by the day.
--   comparable_pay_rate numeric(18,4): Comparable hourly pay of the best-fitting rate card that has one, which may be a wider card than that of mart.rate_compliance; empty when none is known.
--   comparable_pay_gap numeric(18,4): comparable_pay_rate - pay_rate: above 0 when the worker gets less.
--   awr_hours_after numeric(18,4): Net hours of weeks after the twelfth of the count; 0 before 12 weeks are complete.
--   awr_compared_hours numeric(18,4): Those of them that are paid by the hour, and whose pay and comparable pay are known; the
--     others are left out of the two columns below.
--   awr_underpaid_hours numeric(18,4): Those of awr_compared_hours whose pay is below the comparable pay.
--   awr_underpaid_value numeric(18,4): Comparable pay less pay of those hours, in the currency of the company: money that may be
--     owed.
with sheet as (
  select
    t.worker_id,
    t.company_id,
    coalesce(a.trade_id, '-1') as trade_id,
    t.agency_id,
    t.week_ending_date,
    t.net_hours,
    t.assignment_id,
    case when coalesce(t.pay_type, 'hourly') = 'hourly' then coalesce(t.rate_wd_pay, a.pay_rate) end as pay_rate
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

-- One window serves both: the week number, and the break before the week.
numbered as (
  select
    week.*,
    row_number() over by_week as week_number,
    :days(week_ending_date, lag(week_ending_date) over by_week) as days_since
  from week
  window by_week as (partition by worker_id, company_id, trade_id order by week_ending_date)
),

-- The count begins at the last week that follows a break of more than 6 weeks, else at the first week.
tenure as (
  select
    worker_id,
    company_id,
    trade_id,
    min(week_ending_date) as first_week,
    max(week_ending_date) as last_week,
    count(*) as weeks_worked,
    sum(net_hours) as net_hours,
    max(case when days_since is null or days_since >= 56 then week_number end) as start_number
  from numbered
  group by worker_id, company_id, trade_id
),

counted as (
  select
    t.worker_id,
    t.company_id,
    t.trade_id,
    min(case when n.week_number = t.start_number then n.week_ending_date end) as awr_start,
    min(case when n.week_number = t.start_number + 11 then n.week_ending_date end) as twelfth_week,
    max(case when n.week_number = t.weeks_worked then n.assignment_id end) as assignment_id
  from tenure as t
  inner join numbered as n
    on n.worker_id = t.worker_id and n.company_id = t.company_id and n.trade_id = t.trade_id
      and n.week_number in (t.start_number, t.start_number + 11, t.weeks_worked)
  group by t.worker_id, t.company_id, t.trade_id
),

agencies as (
  select worker_id, company_id, trade_id, count(distinct nullif(agency_id, '-1')) as agencies
  from sheet
  group by worker_id, company_id, trade_id
),

-- Include: rate_card

comparable as (
  select
    card.assignment_id,
    card.comparable_pay_rate,
    row_number() over (
      partition by card.assignment_id order by card.wider, card.source_updated_at desc nulls last, card.rate_id
    ) as place
  from rate_card as card
  where card.pay_type = 'hourly' and card.comparable_pay_rate is not null
),

after as (
  select
    s.worker_id,
    s.company_id,
    s.trade_id,
    s.net_hours,
    c.comparable_pay_rate - s.pay_rate as gap
  from sheet as s
  inner join counted as w
    on w.worker_id = s.worker_id and w.company_id = s.company_id and w.trade_id = s.trade_id
      and s.week_ending_date > w.twelfth_week
  left join comparable as c on c.assignment_id = s.assignment_id and c.place = 1
),

breach as (
  select
    worker_id,
    company_id,
    trade_id,
    sum(net_hours) as hours,
    sum(case when gap is not null then net_hours else 0 end) as compared_hours,
    sum(case when gap > 0 then net_hours else 0 end) as underpaid_hours,
    sum(case when gap > 0 then net_hours * gap else 0 end) as underpaid_value
  from after
  group by worker_id, company_id, trade_id
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
  w.awr_start as awr_start_week_ending_date,
  t.weeks_worked - t.start_number + 1 as awr_week_count,
  w.twelfth_week is not null as is_awr_qualified,
  coalesce(
    w.twelfth_week + 1,
    t.last_week + 7 * cast(11 - (t.weeks_worked - t.start_number) as integer) + 1
  ) as awr_qualifies_on,
  :days(:today, t.last_week) <= 42 as is_awr_clock_running,
  coalesce(w.assignment_id, '-1') as latest_assignment_id,
  case when a.pay_type = 'hourly' then a.pay_rate end as pay_rate,
  c.comparable_pay_rate,
  c.comparable_pay_rate - a.pay_rate as comparable_pay_gap,
  coalesce(b.hours, 0) as awr_hours_after,
  coalesce(b.compared_hours, 0) as awr_compared_hours,
  coalesce(b.underpaid_hours, 0) as awr_underpaid_hours,
  coalesce(b.underpaid_value, 0) as awr_underpaid_value
from tenure as t
inner join agencies as g
  on g.worker_id = t.worker_id and g.company_id = t.company_id and g.trade_id = t.trade_id
inner join counted as w
  on w.worker_id = t.worker_id and w.company_id = t.company_id and w.trade_id = t.trade_id
left join star.fact_assignment as a on a.assignment_id = w.assignment_id
left join comparable as c on c.assignment_id = w.assignment_id and c.place = 1
left join breach as b
  on b.worker_id = t.worker_id and b.company_id = t.company_id and b.trade_id = t.trade_id;
