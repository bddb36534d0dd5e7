/** Overview: what changed in the last settled week, and what needs attention today. */
import { count, type DashboardPage, date, days, hours, money, type Panel, share, text } from '../panel.ts'
import { headlines } from './headlines.ts'

/** A line without anything to attend to has a row that counts 0. */
type Attention = Extract<Panel['show'], { kind: 'attention' }>

interface AttentionParts
  extends Pick<Panel, 'id' | 'mart' | 'sql' | 'drill'>,
    Omit<Attention, 'kind' | 'count'> {
  readonly dated?: string
}

function attention({ id, mart, sql, drill, dated, ...words }: AttentionParts): Panel {
  return {
    ...{ id, mart, sql },
    title: words.many.charAt(0).toUpperCase() + words.many.slice(1),
    about: '',
    ...(dated !== undefined && { date: dated }),
    ...(drill && { drill }),
    show: { kind: 'attention', count: 'matters', ...words },
    empty: words.none,
  }
}

const nearLimits = attention({
  id: 'attention-hours',
  mart: 'worker_week',
  dated: 'week_ending_date',
  sql: `with settled as (
  select max(week_ending_date) as week from mart.working_time_weekly where is_settled_week
)
select cast(count(*) as bigint) as matters,
  max(avg_17_week_hours) as longest_average
from mart.worker_week
where {where} and week_ending_date = (select week from settled) and wtr_risk in ('44 to 48', 'above 48')`,
  page: 'hours',
  panel: 'near-and-over',
  one: 'worker averages 44 hours a week or more',
  many: 'workers average 44 hours a week or more',
  none: 'No worker averages 44 hours a week or more.',
  figures: [hours('longest_average', 'longest average')],
})

const orders = attention({
  id: 'attention-orders',
  mart: 'purchase_order_burn',
  sql: `select cast(count(*) as bigint) as matters,
  min(remaining_share) as least_left,
  min(projected_exhaustion_date) as first_spent
from mart.purchase_order_burn
where {where} and (is_overspent or runs_out_before_end or remaining_share < 0.1)`,
  page: 'money',
  panel: 'purchase-orders',
  one: 'purchase order is spent or runs out before it ends',
  many: 'purchase orders are spent or run out before they end',
  none: 'No purchase order with a value is about to run out.',
  figures: [share('least_left', 'least left'), date('first_spent', 'first spent by')],
})

const lateSheets = attention({
  id: 'attention-timesheets',
  mart: 'timesheet_state_weekly',
  dated: 'week_ending_date',
  sql: `select cast(coalesce(sum(late_timesheets), 0) as bigint) as matters,
  min(case when late_timesheets > 0 then week_ending_date end) as oldest_week
from mart.timesheet_state_weekly
where {where} and status in ('pending', 'pending_approval')`,
  page: 'hours',
  panel: 'late-timesheets',
  one: 'timesheet has waited for approval for more than three days',
  many: 'timesheets have waited for approval for more than three days',
  none: 'No timesheet has waited for approval for more than three days.',
  figures: [date('oldest_week', 'oldest week ending')],
})

const approvals = attention({
  id: 'attention-approvals',
  mart: 'approval_cycle',
  sql: `select cast(count(*) as bigint) as matters,
  max(hours_waiting) / 24 as longest_days
from mart.approval_cycle
where {where} and is_pending`,
  page: 'hiring',
  panel: 'approvals-waiting',
  one: 'requisition waits for approval',
  many: 'requisitions wait for approval',
  none: 'No requisition waits for approval.',
  figures: [days('longest_days', 'longest')],
})

const obligations = attention({
  id: 'attention-compliance',
  mart: 'compliance_register',
  sql: `select cast(count(*) as bigint) as matters,
  cast(nullif(sum(case when state = 'missing' then 1 else 0 end), 0) as bigint) as missing,
  cast(nullif(sum(case when state = 'expired' then 1 else 0 end), 0) as bigint) as expired,
  min(case when state = 'expiring' then expires_date end) as next_expiry
from mart.compliance_register
where {where} and state in ('missing', 'expired', 'expiring')`,
  page: 'compliance',
  panel: 'expiring',
  one: 'obligation is missing, expired or about to expire',
  many: 'obligations are missing, expired or about to expire',
  none: 'No obligation is missing, expired or about to expire.',
  figures: [count('missing', 'missing'), count('expired', 'expired'), date('next_expiry', 'next expires')],
})

const ending = attention({
  id: 'attention-ending',
  mart: 'assignment_outcome',
  sql: `select cast(coalesce(sum(ends_in_4_weeks), 0) as bigint) as matters,
  min(case when ends_in_4_weeks = 1 then last_date end) as first_end
from mart.assignment_outcome
where {where}`,
  page: 'headcount',
  panel: 'ending-soon',
  one: 'assignment ends within four weeks',
  many: 'assignments end within four weeks',
  none: 'No assignment ends within four weeks.',
  figures: [date('first_end', 'first')],
})

const overdue = attention({
  id: 'attention-overdue',
  mart: 'invoice_ledger',
  sql: `select cast(count(*) as bigint) as matters,
  sum(outstanding_value) as overdue,
  max(days_overdue) as longest_days
from mart.invoice_ledger
where {where} and is_outstanding and days_overdue > 0 and document_type = 'invoice'`,
  page: 'money',
  panel: 'outstanding',
  one: 'invoice is overdue',
  many: 'invoices are overdue',
  none: 'No invoice is known to be overdue.',
  figures: [money('overdue', 'before credit notes'), days('longest_days', 'longest')],
})

const alerts = attention({
  id: 'attention-alerts',
  mart: 'alert',
  sql: `select cast(count(*) as bigint) as matters,
  string_agg(distinct alert_name, ', ' order by alert_name) as names
from mart.alert
where ended_at is null and alert_state = 'fires'`,
  page: 'data-health',
  panel: 'alerts',
  one: 'alert of the settings fires',
  many: 'alerts of the settings fire',
  none: 'No alert of the settings fires.',
  figures: [text('names', '')],
})

const health = attention({
  id: 'attention-data',
  mart: 'data_health',
  sql: `select cast(count(*) as bigint) as matters,
  string_agg(resource, ', ' order by resource) as names
from mart.data_health
where completeness = 'incomplete' or failed_error_checks > 0`,
  page: 'data-health',
  panel: 'verdicts',
  one: 'resource is incomplete or fails a check, so figures may be wrong',
  many: 'resources are incomplete or fail a check, so figures may be wrong',
  none: 'No resource is incomplete or fails a check.',
  figures: [text('names', '')],
})

export const overview: DashboardPage = {
  id: 'overview',
  title: 'Overview',
  question: 'What changed, and what needs attention today?',
  panels: [
    ...headlines,
    ...[nearLimits, orders, lateSheets, approvals, obligations, ending, overdue, alerts, health],
  ],
}
