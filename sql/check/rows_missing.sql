-- A list holds as many live rows as the service counted when it was last read whole, but for what came while it was read.
-- Severity: error
-- Sources: star.dim_company, star.dim_project, star.dim_site, star.dim_user, star.fact_timesheet, star.fact_expense,
--   star.fact_invoice, ops.watermark
-- Next: run muster backfill for the resource; rows that were here and are gone at the source show in is_deleted
with held as (
  select 'companies' as resource, count(*) as live_rows from star.dim_company as x where not x.is_deleted and not x.is_stub and x.company_id <> '-1'
  union all
  select 'projects' as resource, count(*) as live_rows from star.dim_project as x where not x.is_deleted and not x.is_stub and x.project_id <> '-1'
  union all
  select 'sites' as resource, count(*) as live_rows from star.dim_site as x where not x.is_deleted and not x.is_stub and x.site_id <> '-1'
  union all
  select 'users' as resource, count(*) as live_rows from star.dim_user as x where not x.is_deleted and not x.is_stub and x.user_id <> '-1'
  union all
  select 'timesheets' as resource, count(*) as live_rows from star.fact_timesheet as x where not x.is_deleted
  union all
  select 'expenses' as resource, count(*) as live_rows from star.fact_expense as x where not x.is_deleted
  union all
  select 'invoices' as resource, count(*) as live_rows from star.fact_invoice as x where not x.is_deleted
)

select held.resource || ', ' || cast(held.live_rows as text) || ' of ' || cast(w.remembered_total as text) as record
from held
inner join ops.watermark as w on w.resource = held.resource
where w.backfilled_at is not null and w.remembered_total - held.live_rows > greatest(5, w.remembered_total / 1000)
