-- Every engagement type of a timesheet is in star.dim_engagement_type; the contract does not say that its list is complete.
-- Severity: warn
-- Sources: star.fact_timesheet, star.dim_engagement_type
-- Next: add the type to sql/seed/dim_engagement_type.sql; until then no rate card matches it
select t.timesheet_id as record
from star.fact_timesheet as t
where not t.is_deleted and t.rate_type is not null and t.pay_type is not null
  and not exists (
    select 1 from star.dim_engagement_type as e where e.rate_type = t.rate_type and e.pay_type = t.pay_type)
