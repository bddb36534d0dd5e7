-- Weeks as the companies count them: read from the records, never derived from a calendar.
drop view if exists star.dim_week;
create view star.dim_week as
select
  ending.week_ending_date,
  ending.week_ending_date - 6 as week_start_date,
  case cast(extract(isodow from ending.week_ending_date) as integer)
    when 1 then 'Monday' when 2 then 'Tuesday' when 3 then 'Wednesday' when 4 then 'Thursday'
    when 5 then 'Friday' when 6 then 'Saturday' else 'Sunday'
  end as weekday_name,
  cast(cast(extract(isoyear from ending.week_ending_date) as integer) as text) || '-W'
    || lpad(cast(cast(extract(week from ending.week_ending_date) as integer) as text), 2, '0') as iso_week_key,
  cast(cast(extract(year from ending.week_ending_date) as integer) as text) || '-'
    || lpad(cast(cast(extract(month from ending.week_ending_date) as integer) as text), 2, '0') as month_key
from (
  select week_ending_date from star.fact_timesheet where week_ending_date is not null
  union
  select week_ending_date from star.fact_invoice where week_ending_date is not null
  union
  select week_ending_date from star.fact_credit_note where week_ending_date is not null
) as ending;
comment on view star.dim_week is 'One row per last day of a week that a timesheet, an invoice or a credit note names.';
comment on column star.dim_week.week_ending_date is 'Last day of the week, as the company counts weeks.';
comment on column star.dim_week.week_start_date is 'First day of the week: six days before.';
comment on column star.dim_week.weekday_name is 'English name of the weekday on which the week ends.';
comment on column star.dim_week.iso_week_key is 'ISO week that holds the last day, as YYYY-Www.';
comment on column star.dim_week.month_key is 'Month that holds the last day, as YYYY-MM.';
