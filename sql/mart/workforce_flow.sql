-- Workers at the beginning and the end of each month, and those who came and went. A worker is there from the first to the
-- last day of any assignment that took place; moving between assignments of the same company and agency is not leaving. The
-- current month ends today.
-- Grain: one row per company, agency and month.
-- Question: How many workers join and leave, and how high is attrition?
-- Sources: star.dim_date, star.fact_assignment
-- Measures: first opening_workers; sum starters, leavers, new_starters; last closing_workers; average average_workers
--   over month_start_date; ratio attrition_ratio = leavers / average_workers
-- Columns:
--   company_id text key: The hiring company; '-1' when the record names none.
--   agency_id text key: The agency; '-1' when the record names none.
--   month_start_date date key: First day of the month, from the first start on.
--   month_end_date date: Last day of the month; today in the current one.
--   opening_workers integer: Workers there on the day before the month.
--   starters integer: Workers there on any day of the month, but not on the day before it.
--   leavers integer: Workers there on the day before or on any day of the month, but not on its last day.
--   closing_workers integer: Workers there on the last day: opening_workers + starters - leavers.
--   new_starters integer: Starters who were never there before; the others came back.
--   average_workers double precision: Half of the sum of opening_workers and closing_workers; the denominator of
--     attrition_ratio.
--   attrition_ratio double precision: leavers / average_workers, for the month and not for a year.
with
-- Include: engagement
-- Include: worker_spell

month as (
  select d.month_start_date, least(max(d.date_day), :today) as month_end_date
  from star.dim_date as d
  where d.date_day >= (select min(s.start_date) from worker_spell as s) - 31 and d.month_start_date <= :today
  group by d.month_start_date
),

-- An integer stands for each worker of a company and agency, whose text ids repeat every month. Materialized, since the
-- numbering is arbitrary.
place_of_worker as materialized (
  select
    s.worker_id, s.company_id, s.agency_id, min(s.start_date) as first_date, :number(worker_id, company_id, agency_id) as number
  from worker_spell as s
  group by s.worker_id, s.company_id, s.agency_id
),

numbered_spell as (
  select p.number, s.start_date, s.last_date
  from worker_spell as s
  inner join place_of_worker as p
    on p.worker_id = s.worker_id and p.company_id = s.company_id and p.agency_id = s.agency_id
),

present as (
  select
    s.number,
    m.month_start_date,
    m.month_end_date,
    max(case
      when s.start_date < m.month_start_date and (s.last_date is null or s.last_date >= m.month_start_date - 1) then 1
      else 0
    end) as is_opening,
    max(case
      when s.start_date <= m.month_end_date and (s.last_date is null or s.last_date >= m.month_end_date) then 1
      else 0
    end) as is_closing
  from numbered_spell as s
  inner join month as m
    on s.start_date <= m.month_end_date and (s.last_date is null or s.last_date >= m.month_start_date - 1)
  group by s.number, m.month_start_date, m.month_end_date
),

summed as (
  select
    w.company_id,
    w.agency_id,
    p.month_start_date,
    max(p.month_end_date) as month_end_date,
    sum(p.is_opening) as opening_workers,
    sum(1 - p.is_opening) as starters,
    sum(1 - p.is_closing) as leavers,
    sum(p.is_closing) as closing_workers,
    sum(case when p.is_opening = 0 and w.first_date >= p.month_start_date then 1 else 0 end) as new_starters
  from present as p
  inner join place_of_worker as w on w.number = p.number
  group by w.company_id, w.agency_id, p.month_start_date
)

select
  s.company_id,
  s.agency_id,
  s.month_start_date,
  s.month_end_date,
  s.opening_workers,
  s.starters,
  s.leavers,
  s.closing_workers,
  s.new_starters,
  cast(s.opening_workers + s.closing_workers as double precision) / 2.0 as average_workers,
  cast(s.leavers as double precision) * 2.0
    / nullif(cast(s.opening_workers + s.closing_workers as double precision), 0) as attrition_ratio
from summed as s
