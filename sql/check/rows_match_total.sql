-- A list holds exactly the rows that the service counted when it was last read whole; those that came later do not count.
-- Severity: warn
-- Sources: star.dim_company, star.dim_project, star.dim_site, star.dim_user, star.fact_timesheet, star.fact_expense,
--   star.fact_invoice, star.dim_access_rule, star.bridge_company_user, star.bridge_user_access,
--   star.fact_competency_entry, ops.watermark, ops.window
-- Next: run muster sync, then muster sweep: too few came while the list was read, too many were deleted at the source
with newest_window as (
  select
    w.resource,
    w.greatest_total,
    row_number() over (partition by w.resource, w.scope order by w.started_at desc, w.window_id desc) as place
  from ops.window as w
  where w.kind = 'snapshot' and w.state = 'accepted'
),

held as (
  select 'access-rules' as resource, 'star.dim_access_rule' as subject, count(*) as live_rows from star.dim_access_rule as x where not x.is_deleted and not x.is_stub and x.access_rule_id <> '-1'
  union all
  select 'user-assignments' as resource, 'star.bridge_company_user' as subject, count(*) as live_rows from star.bridge_company_user as x where not x.is_deleted
  union all
  select 'user-permissions' as resource, 'star.bridge_user_access' as subject, count(*) as live_rows from star.bridge_user_access as x where not x.is_deleted
  union all
  select 'competency-matrix' as resource, 'star.fact_competency_entry' as subject, count(*) as live_rows from star.fact_competency_entry as x where not x.is_deleted
),

list as (
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
  union all
  select held.resource, held.subject, sum(n.greatest_total) as total, max(held.live_rows) as then_rows
  from held
  inner join newest_window as n on n.resource = held.resource
  where n.place = 1
  group by held.resource, held.subject
)

select list.resource || ', ' || cast(list.then_rows as text) || ' of ' || cast(cast(list.total as bigint) as text) as record, list.subject
from list
where list.total <> list.then_rows
