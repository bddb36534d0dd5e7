-- The currency of every company with approved work is known, where there is more than one company.
-- Severity: warn
-- Sources: star.fact_timesheet, ops.company_currency
-- Next: set it in currencies, or set currency for all other companies; until then a sum may mix currencies
with worked as (
  select distinct t.company_id
  from star.fact_timesheet as t
  where not t.is_deleted and t.status = 'approved' and t.company_id <> '-1'
)

select w.company_id as record
from worked as w
inner join ops.company_currency as c on c.company_id = w.company_id
where c.currency = 'unknown' and (select count(*) from worked) > 1
