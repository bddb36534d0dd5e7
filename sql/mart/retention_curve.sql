-- How many workers are still with the company a number of weeks after they started: the tenure curve. A worker counts from
-- the first day of the first assignment that took place to the last day of the last one, breaks included, and only for
-- weeks that have passed by today.
-- Grain: one row per company and weeks since the start.
-- Question: How long do workers stay?
-- Sources: star.fact_assignment
-- Measures: sum workers, retained; ratio retention_ratio = retained / workers
-- Columns:
--   company_id text key: The hiring company; '-1' when the record names none.
--   weeks integer key: Weeks since the first start: 1, 2, 4, 8, 12, 26, 39, 52 or 104.
--   workers integer: Workers who started at least that many weeks before today; the denominator of retention_ratio.
--   retained integer: Workers who were still there that many weeks after their first day, or later.
--   retention_ratio double precision: retained / workers.
with
-- Include: engagement
-- Include: worker_spell

tenure as (
  select
    s.worker_id,
    s.company_id,
    min(s.start_date) as first_date,
    max(coalesce(s.last_date, :today)) as last_date
  from worker_spell as s
  group by s.worker_id, s.company_id
),

age (weeks) as (
  values (1), (2), (4), (8), (12), (26), (39), (52), (104)
)

select
  t.company_id,
  age.weeks,
  count(*) as workers,
  count(*) filter (where t.last_date >= t.first_date + age.weeks * 7) as retained,
  cast(count(*) filter (where t.last_date >= t.first_date + age.weeks * 7) as double precision) / count(*) as retention_ratio
from tenure as t
inner join age on t.first_date + age.weeks * 7 <= :today
group by t.company_id, age.weeks
