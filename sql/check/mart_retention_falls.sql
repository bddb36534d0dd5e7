-- In mart.retention_curve, no more workers reach a later week than an earlier one, and only workers who started are
-- retained.
-- Severity: error
-- Sources: mart.retention_curve
-- Next: look for a worker with several first days with muster check keys_unique; the previous rows stay until the check passes
select c.company_id || ' ' || cast(c.weeks as text) as record
from mart.retention_curve as c
where c.retained > c.workers
  or exists (
    select 1
    from mart.retention_curve as later
    where later.company_id = c.company_id and later.weeks > c.weeks
      and (later.workers > c.workers or later.retained > c.retained)
  )
