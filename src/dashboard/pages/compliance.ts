/** Compliance: documents that are missing or about to expire, and who may do what. */
import {
  count,
  type DashboardPage,
  date,
  days,
  flag,
  hours,
  money,
  type Panel,
  share,
  text,
  time,
} from '../panel.ts'

const states: Panel = {
  id: 'obligations',
  title: 'Obligations of open assignments',
  about: 'Missing and expired ones need action. Not known: the service does not say.',
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
  about: 'Permitted although the user is inactive, or has done nothing for longer than the company allows.',
  mart: 'access_review',
  // Groups users first: to count distinct users among all permissions, PostgreSQL would sort every row.
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
  about: 'Users by their last known activity; the service shows no sign-ins.',
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
  empty: 'No user has a permission that should not be there.',
  isWide: true,
}

const equalPay: Panel = {
  id: 'awr-breach',
  title: 'Pay after 12 weeks (AWR)',
  about:
    'Hours after the twelfth week, beside the comparable pay of the rate card. An indicator, not legal advice; hours without a comparable pay are left out of the money. Dates choose workers by their last week.',
  mart: 'assignment_tenure',
  date: 'last_week_ending_date',
  sql: `select sum(awr_underpaid_value) as underpaid,
  sum(awr_underpaid_hours) as underpaid_hours,
  count(case when awr_underpaid_value > 0 then 1 end) as workers,
  sum(awr_compared_hours) as compared_hours,
  sum(awr_hours_after - awr_compared_hours) as hours_not_compared
from mart.assignment_tenure
where {where} and is_awr_qualified
having count(*) > 0`,
  show: {
    kind: 'tiles',
    figures: [
      money('underpaid', 'Below comparable pay'),
      hours('underpaid_hours', 'Hours below it'),
      count('workers', 'Workers below it, by company and trade'),
      hours('compared_hours', 'Hours compared'),
      hours('hours_not_compared', 'Hours not compared'),
    ],
  },
  drill: { by: [], order: 'awr_underpaid_value desc, awr_week_count desc, worker_id' },
  empty: 'No worker has completed 12 weeks here.',
  isWide: true,
}

const contractors: Panel = {
  id: 'psc-without-sds',
  title: 'Contractors without a status determination',
  about:
    'Approved work of personal service companies whose assignment has no statement. Not known: the assignment is not stored.',
  mart: 'labour_spend_weekly',
  date: 'week_ending_date',
  sql: `select agency_id,
  max(agency_name) as agency_name,
  sum(psc_without_sds_value) as charge_without,
  sum(psc_without_sds_hours) as hours_without,
  sum(psc_sds_unknown_value) as charge_unknown,
  sum(charge_value) as charge
from mart.labour_spend_weekly
where {where} and rate_type = 'psc'
group by agency_id
order by charge_without desc, agency_id
limit 200`,
  show: {
    kind: 'bars',
    label: 'agency_name',
    figures: [
      money('charge_without', 'Charge without a statement'),
      hours('hours_without', 'Hours without one'),
      money('charge_unknown', 'Charge, not known'),
      money('charge', 'Charge of all contractors'),
    ],
  },
  drill: { by: ['agency_id'], order: 'psc_without_sds_value desc, week_ending_date desc' },
  empty: 'No personal service company worked here.',
}

const minimumWage: Panel = {
  id: 'minimum-wage',
  title: 'Pay below the minimum wage',
  about:
    'PAYE work in pounds, beside the highest rate on the first day of the week: 21 and over, 23 and over before April 2024. An indicator, not legal advice: ages are not in the data.',
  mart: 'labour_spend_weekly',
  date: 'week_ending_date',
  sql: `select agency_id,
  max(agency_name) as agency_name,
  sum(below_minimum_value) as lacking,
  sum(below_minimum_hours) as hours_below,
  sum(minimum_wage_hours) as hours_compared
from mart.labour_spend_weekly
where {where} and minimum_wage_hours > 0
group by agency_id
order by lacking desc, agency_id
limit 200`,
  show: {
    kind: 'bars',
    label: 'agency_name',
    figures: [
      money('lacking', 'Lacking to the minimum'),
      hours('hours_below', 'Hours below it'),
      hours('hours_compared', 'Hours compared'),
    ],
  },
  drill: { by: ['agency_id'], order: 'below_minimum_value desc, week_ending_date desc' },
  empty: 'No PAYE work in pounds here.',
}

const receipts: Panel = {
  id: 'claims-without-receipt',
  title: 'Claims without a receipt, by category',
  about: 'Claims that show no file of a receipt. Claims by the hour, such as training, may need none.',
  mart: 'expense_summary',
  date: 'week_ending_date',
  sql: `select category,
  sum(approved_without_receipt_value) as approved_without,
  sum(claims_without_receipt) as claims_without,
  sum(claims) as claims,
  cast(sum(claims_without_receipt) as double precision) / nullif(cast(sum(claims) as double precision), 0) as share_without
from mart.expense_summary
where {where}
group by category
order by approved_without desc, category
limit 200`,
  show: {
    kind: 'bars',
    label: 'category',
    figures: [
      money('approved_without', 'Approved without a receipt'),
      count('claims_without', 'Claims without one'),
      count('claims', 'Claims'),
      share('share_without', 'Of all claims'),
    ],
  },
  drill: { by: ['category'], order: 'approved_without_receipt_value desc, week_ending_date desc' },
  empty: 'No claims here.',
  isWide: true,
}

export const compliance: DashboardPage = {
  id: 'compliance',
  title: 'Compliance',
  question: 'What is missing or expiring, and who may do what?',
  panels: [states, permitted, equalPay, contractors, minimumWage, receipts, expiring, review],
}
