-- All days from 2015 to 2030, for joins by any date of a mart.
-- Grain: one row per calendar day.
-- Question: In which week, month, tax year and fiscal year is a day?
-- Assumption: the fiscal year begins with the month that the setting fiscalYearStart names, and is named after the year in which it
-- ends.
-- Sources: star.dim_date
-- Columns:
--   date_day date key: The day.
--   date_key integer: The day as a number, yyyymmdd.
--   year integer: Calendar year of the day.
--   quarter integer: Calendar quarter, 1 to 4.
--   month integer: Calendar month, 1 to 12.
--   month_first_date date: First day of the month.
--   month_key text: Month as YYYY-MM.
--   iso_year integer: Year of the ISO week.
--   iso_week integer: ISO week, 1 to 53.
--   iso_week_key text: ISO week as YYYY-Www.
--   week_start_monday date: Monday of the week.
--   week_end_sunday date: Sunday of the week.
--   day_of_week_iso integer: 1 Monday to 7 Sunday.
--   day_name text: English name of the weekday.
--   is_weekend boolean: Saturday or Sunday.
--   is_bank_holiday_eng boolean: Bank holiday in England and Wales; the substitute day when one falls on a weekend.
--   uk_tax_year text: UK tax year, from 6 April, as 2025/26.
--   uk_tax_month_start date: The 6th on which the UK tax month began.
--   uk_tax_month integer: UK tax month, 1 to 12; the first begins on 6 April.
--   fiscal_year integer: Fiscal year, by the year in which it ends.
--   fiscal_year_start_date date: First day of the fiscal year.
--   fiscal_quarter integer: Quarter of the fiscal year, 1 to 4.
--   fiscal_month integer: Month of the fiscal year, 1 to 12.
with day as (
  select
    d.*,
    (d.month - :fiscal_month + 12) % 12 + 1 as fiscal_month,
    cast(extract(month from d.uk_tax_month_start) as integer) as tax_month_of_year
  from star.dim_date as d
)

select
  day.date_day,
  day.date_key,
  day.year,
  day.quarter,
  day.month,
  day.month_start_date as month_first_date,
  day.month_key,
  day.iso_year,
  day.iso_week,
  day.iso_week_key,
  day.week_start_monday,
  day.week_end_sunday,
  day.day_of_week_iso,
  day.day_name,
  day.is_weekend,
  day.is_bank_holiday_eng,
  day.uk_tax_year,
  day.uk_tax_month_start,
  (day.tax_month_of_year + 8) % 12 + 1 as uk_tax_month,
  case when day.month >= :fiscal_month and :fiscal_month > 1 then day.year + 1 else day.year end as fiscal_year,
  make_date(case when day.month >= :fiscal_month then day.year else day.year - 1 end, :fiscal_month, 1)
    as fiscal_year_start_date,
  cast(floor((day.fiscal_month - 1) / 3.0) as integer) + 1 as fiscal_quarter,
  day.fiscal_month
from day
