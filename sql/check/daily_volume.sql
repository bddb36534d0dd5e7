-- The number of records created on a day is within four standard deviations of that weekday's average over the 12 weeks
-- before.
-- Severity: warn
-- Sources: star.fact_timesheet, star.fact_expense, star.fact_invoice, star.dim_date
-- Next: look at that day with muster sql: it may be a holiday, an import, or records that were never fetched
with created as (
  select 'star.fact_timesheet' as subject, :day(t.created_at) as created_date
  from star.fact_timesheet as t
  where not t.is_deleted
  union all
  select 'star.fact_expense' as subject, :day(e.created_at) as created_date
  from star.fact_expense as e
  where not e.is_deleted
  union all
  select 'star.fact_invoice' as subject, :day(i.created_at) as created_date
  from star.fact_invoice as i
  where not i.is_deleted
),

until_day as (
  select :day(:as_of) as last_day
),

counted as (
  select c.subject, c.created_date, count(*) as n
  from created as c
  group by c.subject, c.created_date
),

daily as (
  select known.subject, d.date_day, d.day_of_week_iso, until_day.last_day,
    cast(coalesce(counted.n, 0) as double precision) as n
  from (select distinct counted.subject from counted) as known
  cross join until_day
  inner join star.dim_date as d on d.date_day < until_day.last_day and d.date_day >= until_day.last_day - 91
  left join counted on counted.subject = known.subject and counted.created_date = d.date_day
),

usual as (
  select daily.subject, daily.day_of_week_iso, avg(daily.n) as mean, stddev_samp(daily.n) as deviation
  from daily
  where daily.date_day < daily.last_day - 7
  group by daily.subject, daily.day_of_week_iso
)

select cast(daily.date_day as text) as record, daily.subject, daily.n, usual.mean
from daily
inner join usual on usual.subject = daily.subject and usual.day_of_week_iso = daily.day_of_week_iso
where daily.date_day >= daily.last_day - 7
  and abs(daily.n - usual.mean) > 4 * usual.deviation and abs(daily.n - usual.mean) >= 20
