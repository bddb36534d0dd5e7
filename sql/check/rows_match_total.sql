-- A list holds exactly as many live rows as the service counted when it was last read whole.
-- Severity: warn
-- Sources: star.dim_company, star.dim_project, star.dim_site, star.dim_user, star.fact_timesheet, star.fact_expense,
--   star.fact_invoice, star.dim_access_rule, star.bridge_company_user, star.bridge_user_access,
--   star.fact_competency_entry, ops.watermark, ops.window
-- Next: run muster sync, then muster sweep: fewer rows came while the list was read, more were deleted at the source or are newer
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
  union all
  select 'access-rules' as resource, count(*) as live_rows from star.dim_access_rule as x where not x.is_deleted and not x.is_stub and x.access_rule_id <> '-1'
  union all
  select 'user-assignments' as resource, count(*) as live_rows from star.bridge_company_user as x where not x.is_deleted
  union all
  select 'user-permissions' as resource, count(*) as live_rows from star.bridge_user_access as x where not x.is_deleted
  union all
  select 'competency-matrix' as resource, count(*) as live_rows from star.fact_competency_entry as x where not x.is_deleted
),

newest_window as (
  select
    w.resource,
    w.greatest_total,
    row_number() over (partition by w.resource, w.scope order by w.started_at desc, w.window_id desc) as place
  from ops.window as w
  where w.kind = 'snapshot' and w.state = 'accepted'
),

expected as (
  select w.resource, w.remembered_total as total from ops.watermark as w
  where w.backfilled_at is not null and w.remembered_total is not null
  union all
  select n.resource, sum(n.greatest_total) as total from newest_window as n where n.place = 1 group by n.resource
)

select held.resource || ', ' || cast(held.live_rows as text) || ' of ' || cast(cast(expected.total as bigint) as text) as record
from held
inner join expected on expected.resource = held.resource
where held.live_rows <> expected.total
