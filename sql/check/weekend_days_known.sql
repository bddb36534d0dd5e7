-- A company ends its week on a weekday that we can read.
-- Severity: warn
-- Sources: star.dim_company
-- Next: give the word its weekday in sql/check/week_ending_weekday.sql and the marts that read weekend_day; they take Sunday until then
select c.company_id as record
from star.dim_company as c
where not c.is_deleted and c.weekend_day is not null
  and lower(c.weekend_day) not in ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')
