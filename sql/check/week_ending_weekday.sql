-- The week of a timesheet ends on the weekday that its company is configured for.
-- Severity: warn
-- Sources: star.fact_timesheet, star.dim_company
-- Next: check whether the company changed its weekendDay: earlier weeks keep their day, and reports by week show both; if
-- every week ends a day early, the company is east of India: use its time zone as reportingZone
select t.timesheet_id || ', company ' || t.company_id || ', ' || c.weekend_day as record
from star.fact_timesheet as t
inner join star.dim_company as c on c.company_id = t.company_id
where not t.is_deleted
  and cast(extract(isodow from t.week_ending_date) as integer) <> case lower(c.weekend_day)
    when 'monday' then 1 when 'tuesday' then 2 when 'wednesday' then 3 when 'thursday' then 4
    when 'friday' then 5 when 'saturday' then 6 when 'sunday' then 7
  end
