-- The configured weekend day of a company is a known weekday.
-- Severity: warn
-- Sources: star.dim_company
-- Next: add the spelling to sql/check/week_ending_weekday.sql and the marts that read weekend_day; until then they assume Sunday
select c.company_id as record
from star.dim_company as c
where not c.is_deleted
  and lower(c.weekend_day) not in ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday')
