/** Compliance: documents that are missing or about to expire, and who may do what. */
import { count, date, days, flag, type Page, type Panel, text, time } from '../panel.ts'

const states: Panel = {
  id: 'obligations',
  title: 'Obligations of open assignments',
  about: 'Missing and expired ones need somebody; not known ones the service does not tell of.',
  mart: 'compliance_register',
  date: 'expires_date',
  sql: `select state, count(*) as obligations, count(distinct assignment_id) as assignments
from mart.compliance_register
where {where}
group by state
order by case state when 'missing' then 1 when 'expired' then 2 when 'expiring' then 3 else 4 end, obligations desc`,
  show: {
    kind: 'bars',
    label: 'state',
    inOrder: true,
    figures: [count('obligations', 'Obligations'), count('assignments', 'Assignments')],
  },
  drill: { by: ['state'], order: 'days_to_expiry nulls last, assignment_id' },
  empty: 'No open assignments here.',
}

const permitted: Panel = {
  id: 'unused-permissions',
  title: 'Permissions that should not be there',
  about: 'Permitted although the user is inactive, or has done nothing for as long as the company allows.',
  mart: 'access_review',
  // Users first: to count different ones among all permissions, a server would sort every row.
  sql: `with users as (
  select company_id,
    user_id,
    max(company_name) as company_name,
    bool_or(is_inactive_but_permitted) as is_inactive,
    bool_or(is_dormant_but_permitted) as is_dormant,
    sum(case when is_inactive_but_permitted or is_dormant_but_permitted then 1 else 0 end) as permissions
  from mart.access_review
  where {where}
  group by company_id, user_id
)
select company_id,
  max(company_name) as company_name,
  count(case when is_inactive then 1 end) as inactive_users,
  count(case when is_dormant then 1 end) as dormant_users,
  cast(sum(permissions) as bigint) as permissions
from users
group by company_id
order by permissions desc, company_id`,
  show: {
    kind: 'bars',
    label: 'company_name',
    figures: [
      count('permissions', 'Permissions'),
      count('inactive_users', 'Inactive users'),
      count('dormant_users', 'Dormant users'),
    ],
  },
  drill: {
    by: ['company_id'],
    order: 'is_inactive_but_permitted desc, days_since_activity desc nulls first',
  },
  empty: 'No permissions are known here.',
}

const expiring: Panel = {
  id: 'expiring',
  title: 'Missing, expired and expiring',
  about: 'Most urgent first.',
  mart: 'compliance_register',
  date: 'expires_date',
  sql: `select compliance_key,
  assignment_reference,
  obligation,
  state,
  expires_date,
  days_to_expiry,
  agency_name,
  project_name
from mart.compliance_register
where {where} and state in ('missing', 'expired', 'expiring')
order by days_to_expiry nulls first, compliance_key
limit 200`,
  show: {
    kind: 'table',
    figures: [
      text('assignment_reference', 'Assignment'),
      text('obligation', 'Obligation'),
      text('state', 'State'),
      date('expires_date', 'Expires'),
      days('days_to_expiry', 'Days left'),
      text('agency_name', 'Agency'),
      text('project_name', 'Project'),
    ],
  },
  drill: { by: ['compliance_key'], order: 'compliance_key' },
  empty: 'Nothing is missing, expired or about to expire.',
  isWide: true,
}

const review: Panel = {
  id: 'access-review',
  title: 'Accounts to review',
  about: 'Users by what they were last seen doing; the service shows no sign-ins.',
  mart: 'access_review',
  sql: `select company_id,
  user_id,
  max(user_reference) as user_reference,
  max(company_name) as company_name,
  max(role_label) as role_label,
  max(access_status) as access_status,
  max(last_activity_at) as last_activity_at,
  count(*) as permissions,
  bool_or(is_inactive_but_permitted) as is_inactive
from mart.access_review
where {where} and (is_inactive_but_permitted or is_dormant_but_permitted)
group by company_id, user_id
order by is_inactive desc, last_activity_at nulls first, user_id
limit 200`,
  show: {
    kind: 'table',
    figures: [
      text('user_reference', 'User'),
      text('company_name', 'Company'),
      text('role_label', 'Role'),
      text('access_status', 'Access'),
      time('last_activity_at', 'Last seen'),
      count('permissions', 'Permissions'),
      flag('is_inactive', 'Inactive'),
    ],
  },
  drill: { by: ['company_id', 'user_id'], order: 'project_id, permission_id' },
  empty: 'Nobody has a permission that should not be there.',
  isWide: true,
}

export const compliance: Page = {
  id: 'compliance',
  title: 'Compliance',
  question: 'What is missing or expiring, and who may do what?',
  panels: [states, permitted, expiring, review],
}
