-- Tables that are filled from the other files of this folder, not from the service.

create table if not exists star.dim_date (
  date_day date not null,
  date_key integer not null,
  year integer not null,
  quarter integer not null,
  month integer not null,
  month_start_date date not null,
  month_key text not null,
  iso_year integer not null,
  iso_week integer not null,
  iso_week_key text not null,
  week_start_monday date not null,
  week_end_sunday date not null,
  day_of_week_iso integer not null,
  day_name text not null,
  is_weekend boolean not null,
  uk_tax_year text not null,
  uk_tax_month_start date not null,
  is_bank_holiday_eng boolean not null,
  primary key (date_day)
);
comment on table star.dim_date is 'One row per calendar day from 2015-01-01 to 2030-12-31.';
comment on column star.dim_date.date_day is 'Day of the calendar.';
comment on column star.dim_date.date_key is 'The day as a number, yyyymmdd.';
comment on column star.dim_date.year is 'Calendar year of the day.';
comment on column star.dim_date.quarter is 'Calendar quarter, 1 to 4.';
comment on column star.dim_date.month is 'Calendar month, 1 to 12.';
comment on column star.dim_date.month_start_date is 'First day of the month.';
comment on column star.dim_date.month_key is 'Month as YYYY-MM.';
comment on column star.dim_date.iso_year is 'Year of the ISO week.';
comment on column star.dim_date.iso_week is 'ISO week, 1 to 53.';
comment on column star.dim_date.iso_week_key is 'ISO week as YYYY-Www.';
comment on column star.dim_date.week_start_monday is 'Monday of the week.';
comment on column star.dim_date.week_end_sunday is 'Sunday of the week.';
comment on column star.dim_date.day_of_week_iso is '1 Monday to 7 Sunday.';
comment on column star.dim_date.day_name is 'English name of the weekday.';
comment on column star.dim_date.is_weekend is 'Saturday or Sunday.';
comment on column star.dim_date.uk_tax_year is 'UK tax year, from 6 April, as 2025/26.';
comment on column star.dim_date.uk_tax_month_start is 'The 6th on which the UK tax month began.';
comment on column star.dim_date.is_bank_holiday_eng is 'Bank holiday in England and Wales; the substitute day when one falls on a weekend.';

create table if not exists star.dim_hour_type (
  hour_type text not null,
  label text not null,
  is_overtime boolean not null,
  is_night boolean not null,
  is_weekend boolean not null,
  is_bank_holiday boolean not null,
  rate_key text not null,
  value_bucket text not null,
  uplift_key text,
  mapping_confidence text not null,
  primary key (hour_type)
);
comment on table star.dim_hour_type is 'One row per kind of hour, across the three vocabularies of the service.';
comment on column star.dim_hour_type.hour_type is 'Kind of hour.';
comment on column star.dim_hour_type.label is 'Name to show people.';
comment on column star.dim_hour_type.is_overtime is 'Whether it is overtime.';
comment on column star.dim_hour_type.is_night is 'Whether it is work at night.';
comment on column star.dim_hour_type.is_weekend is 'Saturday or Sunday.';
comment on column star.dim_hour_type.is_bank_holiday is 'Whether it is work on a bank holiday.';
comment on column star.dim_hour_type.rate_key is 'Key in the rates of a timesheet.';
comment on column star.dim_hour_type.value_bucket is 'Bucket in the values of a timesheet; unique.';
comment on column star.dim_hour_type.uplift_key is 'Key in the rate uplifts of an assignment, when there is one.';
comment on column star.dim_hour_type.mapping_confidence is 'documented: the contract pairs the keys by name; assumed: our reading.';

create table if not exists star.dim_engagement_type (
  rate_type text not null,
  pay_type text not null,
  label text not null,
  primary key (rate_type, pay_type)
);
comment on table star.dim_engagement_type is 'One row per combination of rate type and pay type.';
comment on column star.dim_engagement_type.rate_type is 'cis, paye or psc.';
comment on column star.dim_engagement_type.pay_type is 'hourly or daily.';
comment on column star.dim_engagement_type.label is 'Name to show people.';

create table if not exists star.dim_expense_category (
  category text not null,
  category_group text not null,
  primary key (category)
);
comment on table star.dim_expense_category is 'One row per expense category of the contract.';
comment on column star.dim_expense_category.category is 'Category as the service spells it.';
comment on column star.dim_expense_category.category_group is 'travel, lodging, pay, plant or other.';

create table if not exists star.dim_entity_status (
  entity text not null,
  status text not null,
  label text not null,
  is_open boolean not null,
  is_terminal boolean not null,
  is_documented boolean not null,
  primary key (entity, status)
);
comment on table star.dim_entity_status is 'One row per kind of record and state.';
comment on column star.dim_entity_status.entity is 'Kind of record.';
comment on column star.dim_entity_status.status is 'State as the service spells it.';
comment on column star.dim_entity_status.label is 'Name to show people.';
comment on column star.dim_entity_status.is_open is 'Whether action is still required.';
comment on column star.dim_entity_status.is_terminal is 'Whether it is the normal end of the life of a record.';
comment on column star.dim_entity_status.is_documented is 'Whether the contract names it; false for states seen only in data.';

create table if not exists star.dim_minimum_wage (
  valid_from date not null,
  age_band text not null,
  hourly_rate numeric(18, 4) not null,
  primary key (valid_from, age_band)
);
comment on table star.dim_minimum_wage is 'One row per change of the UK minimum wage and age band, as gov.uk gives them.';
comment on column star.dim_minimum_wage.valid_from is 'First day of the rate.';
comment on column star.dim_minimum_wage.age_band is 'Age of the worker, or apprentice.';
comment on column star.dim_minimum_wage.hourly_rate is 'Pounds an hour.';
