-- One row per calendar day from 2015-01-01 to 2030-12-31.
-- Bank holidays are those of England and Wales as gov.uk lists them: a holiday that falls on a weekend is the
-- weekday given instead; 2020-05-08, 2022-06-02, 2022-06-03, 2022-09-19 and 2023-05-08 were set for one year.
-- Years that are not announced yet follow the standing rule.
insert into star.dim_date (
  date_day, date_key,
  year, quarter, month, month_start_date, month_key,
  iso_year, iso_week, iso_week_key, week_start_monday, week_end_sunday,
  day_of_week_iso, day_name, is_weekend,
  uk_tax_year, uk_tax_month_start, is_bank_holiday_eng
)
with bank_holiday (date_day) as (
  values
    (date '2015-01-01'), (date '2015-04-03'), (date '2015-04-06'), (date '2015-05-04'),
    (date '2015-05-25'), (date '2015-08-31'), (date '2015-12-25'), (date '2015-12-28'),
    (date '2016-01-01'), (date '2016-03-25'), (date '2016-03-28'), (date '2016-05-02'),
    (date '2016-05-30'), (date '2016-08-29'), (date '2016-12-26'), (date '2016-12-27'),
    (date '2017-01-02'), (date '2017-04-14'), (date '2017-04-17'), (date '2017-05-01'),
    (date '2017-05-29'), (date '2017-08-28'), (date '2017-12-25'), (date '2017-12-26'),
    (date '2018-01-01'), (date '2018-03-30'), (date '2018-04-02'), (date '2018-05-07'),
    (date '2018-05-28'), (date '2018-08-27'), (date '2018-12-25'), (date '2018-12-26'),
    (date '2019-01-01'), (date '2019-04-19'), (date '2019-04-22'), (date '2019-05-06'),
    (date '2019-05-27'), (date '2019-08-26'), (date '2019-12-25'), (date '2019-12-26'),
    (date '2020-01-01'), (date '2020-04-10'), (date '2020-04-13'), (date '2020-05-08'),
    (date '2020-05-25'), (date '2020-08-31'), (date '2020-12-25'), (date '2020-12-28'),
    (date '2021-01-01'), (date '2021-04-02'), (date '2021-04-05'), (date '2021-05-03'),
    (date '2021-05-31'), (date '2021-08-30'), (date '2021-12-27'), (date '2021-12-28'),
    (date '2022-01-03'), (date '2022-04-15'), (date '2022-04-18'), (date '2022-05-02'),
    (date '2022-06-02'), (date '2022-06-03'), (date '2022-08-29'), (date '2022-09-19'),
    (date '2022-12-26'), (date '2022-12-27'),
    (date '2023-01-02'), (date '2023-04-07'), (date '2023-04-10'), (date '2023-05-01'),
    (date '2023-05-08'), (date '2023-05-29'), (date '2023-08-28'), (date '2023-12-25'),
    (date '2023-12-26'),
    (date '2024-01-01'), (date '2024-03-29'), (date '2024-04-01'), (date '2024-05-06'),
    (date '2024-05-27'), (date '2024-08-26'), (date '2024-12-25'), (date '2024-12-26'),
    (date '2025-01-01'), (date '2025-04-18'), (date '2025-04-21'), (date '2025-05-05'),
    (date '2025-05-26'), (date '2025-08-25'), (date '2025-12-25'), (date '2025-12-26'),
    (date '2026-01-01'), (date '2026-04-03'), (date '2026-04-06'), (date '2026-05-04'),
    (date '2026-05-25'), (date '2026-08-31'), (date '2026-12-25'), (date '2026-12-28'),
    (date '2027-01-01'), (date '2027-03-26'), (date '2027-03-29'), (date '2027-05-03'),
    (date '2027-05-31'), (date '2027-08-30'), (date '2027-12-27'), (date '2027-12-28'),
    (date '2028-01-03'), (date '2028-04-14'), (date '2028-04-17'), (date '2028-05-01'),
    (date '2028-05-29'), (date '2028-08-28'), (date '2028-12-25'), (date '2028-12-26'),
    (date '2029-01-01'), (date '2029-03-30'), (date '2029-04-02'), (date '2029-05-07'),
    (date '2029-05-28'), (date '2029-08-27'), (date '2029-12-25'), (date '2029-12-26'),
    (date '2030-01-01'), (date '2030-04-19'), (date '2030-04-22'), (date '2030-05-06'),
    (date '2030-05-27'), (date '2030-08-26'), (date '2030-12-25'), (date '2030-12-26')
),

day as (
  select date '2015-01-01' + cast(series.n as integer) as date_day
  from generate_series(0, 5843) as series(n)
),

part as (
  select
    date_day,
    cast(extract(year from date_day) as integer) as year_number,
    cast(extract(quarter from date_day) as integer) as quarter_number,
    cast(extract(month from date_day) as integer) as month_number,
    cast(extract(day from date_day) as integer) as day_number,
    cast(extract(isoyear from date_day) as integer) as iso_year,
    cast(extract(week from date_day) as integer) as iso_week,
    cast(extract(isodow from date_day) as integer) as day_of_week_iso
  from day
),

tax as (
  select
    date_day,
    case when month_number * 100 + day_number >= 406 then year_number else year_number - 1 end as first_year
  from part
)

select
  part.date_day,
  part.year_number * 10000 + part.month_number * 100 + part.day_number as date_key,
  part.year_number,
  part.quarter_number,
  part.month_number,
  part.date_day - (part.day_number - 1) as month_start_date,
  cast(part.year_number as text) || '-' || lpad(cast(part.month_number as text), 2, '0') as month_key,
  part.iso_year,
  part.iso_week,
  cast(part.iso_year as text) || '-W' || lpad(cast(part.iso_week as text), 2, '0') as iso_week_key,
  part.date_day - (part.day_of_week_iso - 1) as week_start_monday,
  part.date_day + (7 - part.day_of_week_iso) as week_end_sunday,
  part.day_of_week_iso,
  case part.day_of_week_iso
    when 1 then 'Monday'
    when 2 then 'Tuesday'
    when 3 then 'Wednesday'
    when 4 then 'Thursday'
    when 5 then 'Friday'
    when 6 then 'Saturday'
    else 'Sunday'
  end as day_name,
  part.day_of_week_iso >= 6 as is_weekend,
  cast(tax.first_year as text) || '/' || lpad(cast((tax.first_year + 1) % 100 as text), 2, '0') as uk_tax_year,
  -- Five days earlier is in the calendar month in which this tax month began.
  cast(date_trunc('month', part.date_day - 5) as date) + 5 as uk_tax_month_start,
  bank_holiday.date_day is not null as is_bank_holiday_eng
from part
inner join tax on tax.date_day = part.date_day
left join bank_holiday on bank_holiday.date_day = part.date_day
where not exists (select 1 from star.dim_date as existing where existing.date_day = part.date_day);
