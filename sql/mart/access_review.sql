-- Permissions of each user on each project, and whether the account is active and in use.
-- Grain: one row per company, user, project and permission.
-- Question: Who can do what?
-- Assumption: the service shows no sign-ins. Last activity is the latest approval, submission, claim or entry in a log that names
-- the user. A permission that is not listed is not necessarily denied.
-- Sources: star.fact_user_permission, star.bridge_user_access, star.dim_user, star.dim_permission, star.dim_company,
--   star.fact_timesheet, star.fact_expense, star.fact_assignment_activity, star.fact_stage_event, star.fact_submission
-- Measures: max days_since_activity; none inactivity_months
-- Columns:
--   company_id text key: The company.
--   user_id text key: The user.
--   project_id text key: The project; '-1' when the record names none.
--   permission_id text key: The permission; '-1' when the record names none.
--   permission_name text: Name of the permission.
--   permission_category text: Category of the permission.
--   role_label text: Readable name of the user's role on projects of the company.
--   access_status text: Active or Inactive, in the company.
--   is_account_active boolean: Whether the account is active; empty when the user was not read.
--   is_permitted boolean: Whether the role or an override permits it.
--   last_activity_at timestamptz: Latest activity that names the user; empty when there is none.
--   days_since_activity integer: Days from last_activity_at to today.
--   inactivity_months integer: Months after which the company counts an account as unused; empty when not configured.
--   is_inactive_but_permitted boolean: Whether it is permitted although the user is inactive in the company, or the account is inactive.
--   is_dormant_but_permitted boolean: Whether it is permitted although the user has had no activity for inactivity_months, or ever; empty when the company configures no months of inactivity.
with deed as (
  select t.approved_by_user_id as user_id, max(t.approved_at) as done_at
  from star.fact_timesheet as t
  where not t.is_deleted and t.approved_by_user_id <> '-1'
  group by t.approved_by_user_id
  union all
  select e.approved_by_user_id as user_id, max(e.approved_at) as done_at
  from star.fact_expense as e
  where not e.is_deleted and e.approved_by_user_id <> '-1'
  group by e.approved_by_user_id
  union all
  select e.created_by_user_id as user_id, max(e.created_at) as done_at
  from star.fact_expense as e
  where not e.is_deleted and e.created_by_user_id <> '-1'
  group by e.created_by_user_id
  union all
  select a.user_id, max(a.created_at) as done_at
  from star.fact_assignment_activity as a
  where not a.is_deleted and a.user_id <> '-1'
  group by a.user_id
  union all
  select s.by_user_id as user_id, max(s.event_at) as done_at
  from star.fact_stage_event as s
  where not s.is_deleted and s.by_user_id <> '-1'
  group by s.by_user_id
  union all
  select s.submitted_by_user_id as user_id, max(s.submitted_at) as done_at
  from star.fact_submission as s
  where not s.is_deleted and s.submitted_by_user_id <> '-1'
  group by s.submitted_by_user_id
),

activity as (
  select deed.user_id, max(deed.done_at) as last_activity_at
  from deed
  group by deed.user_id
),

access as (
  select
    p.company_id,
    p.user_id,
    p.project_id,
    p.permission_id,
    bool_or(coalesce(p.is_permitted, false)) as is_permitted
  from star.fact_user_permission as p
  where not p.is_deleted
  group by p.company_id, p.user_id, p.project_id, p.permission_id
),

membership as (
  select m.company_id, m.user_id, max(m.role_label) as role_label, max(m.status) as status
  from star.bridge_user_access as m
  where not m.is_deleted
  group by m.company_id, m.user_id
),

seen as (
  select
    access.*,
    membership.role_label,
    membership.status as access_status,
    case when not u.is_inferred then u.is_active and not u.is_deleted end as is_account_active,
    activity.last_activity_at,
    cast(:today - :day(activity.last_activity_at) as integer) as days_since_activity,
    c.user_inactivity_months
  from access
  left join membership on membership.company_id = access.company_id and membership.user_id = access.user_id
  left join star.dim_user as u on u.user_id = access.user_id
  left join activity on activity.user_id = access.user_id
  left join star.dim_company as c on c.company_id = access.company_id
)

select
  seen.company_id,
  seen.user_id,
  seen.project_id,
  seen.permission_id,
  p.name as permission_name,
  p.category as permission_category,
  seen.role_label,
  seen.access_status,
  seen.is_account_active,
  seen.is_permitted,
  seen.last_activity_at,
  seen.days_since_activity,
  seen.user_inactivity_months as inactivity_months,
  seen.is_permitted
    and (coalesce(seen.access_status, 'Active') = 'Inactive' or not coalesce(seen.is_account_active, true)) as is_inactive_but_permitted,
  case
    when seen.user_inactivity_months is null then null
    else seen.is_permitted and coalesce(seen.days_since_activity > seen.user_inactivity_months * 30.4375, true)
  end as is_dormant_but_permitted
from seen
left join star.dim_permission as p on p.permission_id = seen.permission_id
