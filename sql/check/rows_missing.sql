-- A list holds the rows that the service counted when it was last read whole, but for a few that came while it was read.
-- Severity: error
-- Sources: star.dim_company, star.dim_project, star.dim_site, star.dim_user, star.fact_timesheet, star.fact_expense,
--   star.fact_invoice, ops.watermark
-- Next: run muster backfill for the resource: rows are missing that the service has
with list as (
  select w.resource, 'star.dim_company' as subject, w.remembered_total as total, count(x.loaded_at) as then_rows
  from ops.watermark as w
  left join star.dim_company as x
    on x.first_loaded_at <= w.moved_at and (not x.is_deleted or x.deleted_at > w.moved_at) and not x.is_stub and x.company_id <> '-1'
  where w.resource = 'companies' and w.backfilled_at is not null and w.remembered_total is not null
  group by w.resource, w.remembered_total
  union all
  select w.resource, 'star.dim_project' as subject, w.remembered_total as total, count(x.loaded_at) as then_rows
  from ops.watermark as w
  left join star.dim_project as x
    on x.first_loaded_at <= w.moved_at and (not x.is_deleted or x.deleted_at > w.moved_at) and not x.is_stub and x.project_id <> '-1'
  where w.resource = 'projects' and w.backfilled_at is not null and w.remembered_total is not null
  group by w.resource, w.remembered_total
  union all
  select w.resource, 'star.dim_site' as subject, w.remembered_total as total, count(x.loaded_at) as then_rows
  from ops.watermark as w
  left join star.dim_site as x
    on x.first_loaded_at <= w.moved_at and (not x.is_deleted or x.deleted_at > w.moved_at) and not x.is_stub and x.site_id <> '-1'
  where w.resource = 'sites' and w.backfilled_at is not null and w.remembered_total is not null
  group by w.resource, w.remembered_total
  union all
  select w.resource, 'star.dim_user' as subject, w.remembered_total as total, count(x.loaded_at) as then_rows
  from ops.watermark as w
  left join star.dim_user as x
    on x.first_loaded_at <= w.moved_at and (not x.is_deleted or x.deleted_at > w.moved_at) and not x.is_stub and x.user_id <> '-1'
  where w.resource = 'users' and w.backfilled_at is not null and w.remembered_total is not null
  group by w.resource, w.remembered_total
  union all
  select w.resource, 'star.fact_timesheet' as subject, w.remembered_total as total, count(x.loaded_at) as then_rows
  from ops.watermark as w
  left join star.fact_timesheet as x
    on x.first_loaded_at <= w.backfilled_at and (not x.is_deleted or x.deleted_at > w.backfilled_at)
  where w.resource = 'timesheets' and w.backfilled_at is not null and w.remembered_total is not null
  group by w.resource, w.remembered_total
  union all
  select w.resource, 'star.fact_expense' as subject, w.remembered_total as total, count(x.loaded_at) as then_rows
  from ops.watermark as w
  left join star.fact_expense as x
    on x.first_loaded_at <= w.backfilled_at and (not x.is_deleted or x.deleted_at > w.backfilled_at)
  where w.resource = 'expenses' and w.backfilled_at is not null and w.remembered_total is not null
  group by w.resource, w.remembered_total
  union all
  select w.resource, 'star.fact_invoice' as subject, w.remembered_total as total, count(x.loaded_at) as then_rows
  from ops.watermark as w
  left join star.fact_invoice as x
    on x.first_loaded_at <= w.moved_at and (not x.is_deleted or x.deleted_at > w.moved_at)
  where w.resource = 'invoices' and w.backfilled_at is not null and w.remembered_total is not null
  group by w.resource, w.remembered_total
)

select list.resource || ', ' || cast(list.then_rows as text) || ' of ' || cast(list.total as text) as record, list.subject
from list
where list.total - list.then_rows > greatest(5, floor(list.total / 1000.0))
