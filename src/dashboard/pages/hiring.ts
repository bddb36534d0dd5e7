/** Hiring: how long requisitions take to fill, where candidates drop out, and what is still open. */
import { count, type DashboardPage, date, days, type Panel, share, text } from '../panel.ts'

const noRequisitions =
  'No accepted requisitions here. Widen the filters; requisitions are found by webhooks and by assignments.'

/** The rule of the service: beyond the quartiles by more than one and a half interquartile ranges. */
const distribution: Panel = {
  id: 'time-to-fill',
  title: 'Days from approval to acceptance',
  about:
    'Each acceptance of an agency counts once, in all companies, also those that the service’s own metric leaves out. Values beyond the fences are the outliers of this view.',
  mart: 'time_to_fill_detail',
  sql: `with answers as (
  select cast(approved_to_accepted_days as double precision) as days
  from mart.time_to_fill_detail
  where {where} and approved_to_accepted_days is not null
), quartiles as (
  select percentile_cont(0.25) within group (order by days) as q1,
    percentile_cont(0.5) within group (order by days) as median_days,
    percentile_cont(0.75) within group (order by days) as q3
  from answers
)
select floor(days) as day,
  count(*) as acceptances,
  max(q1 - 1.5 * (q3 - q1)) as lower_fence,
  max(q3 + 1.5 * (q3 - q1)) as upper_fence,
  max(median_days) as median_days
from answers cross join quartiles
group by floor(days)
order by day`,
  show: {
    kind: 'distribution',
    x: days('day', 'Days'),
    count: 'acceptances',
    fences: ['lower_fence', 'upper_fence'],
  },
  drill: { by: [], order: 'approved_to_accepted_days desc nulls last' },
  empty: noRequisitions,
  isWide: true,
}

const besideService: Panel = {
  id: 'time-to-fill-compared',
  title: 'Our figure beside the service’s own',
  about:
    'Without outliers, by company. The service may leave companies out, such as those without stage tracking: their acceptances are counted as left out, and only the average of all companies has them. It was asked at the last crosscheck.',
  mart: 'time_to_fill_by_company',
  sql: `select company_id,
  company_name,
  within_bounds_count,
  excluded_outliers,
  left_out_count,
  all_companies_average_days,
  average_days,
  api_average_days,
  median_days,
  api_median_days,
  match_status
from mart.time_to_fill_by_company
where {where}
order by all_companies_count desc, company_id`,
  show: {
    kind: 'table',
    figures: [
      text('company_name', 'Company'),
      count('within_bounds_count', 'Counted'),
      count('excluded_outliers', 'Outliers'),
      count('left_out_count', 'Left out by the service'),
      days('all_companies_average_days', 'Average, all companies'),
      days('average_days', 'Average, ours'),
      days('api_average_days', 'Average, service'),
      days('median_days', 'Median, ours'),
      days('api_median_days', 'Median, service'),
      text('match_status', 'Verdict'),
    ],
  },
  drill: {
    mart: 'time_to_fill_detail',
    by: ['company_id'],
    order: 'approved_to_accepted_days desc nulls last',
  },
  empty: 'Nothing was compared yet. Run muster crosscheck, then muster build.',
  isWide: true,
}

const outliers: Panel = {
  id: 'time-to-fill-outliers',
  title: 'Outliers',
  about:
    'Acceptances that time to fill leaves out as outliers, in the companies that the service counts; longest first.',
  mart: 'time_to_fill_detail',
  sql: `select requisition_id,
  agency_id,
  reference,
  agency_name,
  project_name,
  trade_name,
  cast(accepted_at as date) as accepted_on,
  approved_to_accepted_days
from mart.time_to_fill_detail
where {where} and is_outlier_all
order by approved_to_accepted_days desc, requisition_id
limit 100`,
  show: {
    kind: 'table',
    figures: [
      text('reference', 'Requisition'),
      text('agency_name', 'Agency'),
      text('project_name', 'Project'),
      text('trade_name', 'Trade'),
      date('accepted_on', 'Accepted'),
      days('approved_to_accepted_days', 'Days'),
    ],
  },
  drill: { by: ['requisition_id', 'agency_id'], order: 'accepted_at desc nulls last' },
  empty: 'No outliers: every acceptance lies within the fences.',
  isWide: true,
}

/** Each company has trades of its own; people compare them by their names. */
const byTrade: Panel = {
  id: 'time-to-fill-by-trade',
  title: 'Days to fill, by trade',
  about:
    'Average from approval to acceptance in all companies, without the outliers of the trade, which are counted apart.',
  mart: 'time_to_fill_detail',
  sql: `select trade_name,
  avg(case when not is_outlier_trade then cast(approved_to_accepted_days as double precision) end) as average_days,
  count(case when not is_outlier_trade then 1 end) as acceptances,
  count(case when is_outlier_trade then 1 end) as outliers,
  max(approved_to_accepted_days) as longest_days
from mart.time_to_fill_detail
where {where}
group by trade_name
order by average_days desc nulls last, trade_name
limit 200`,
  show: {
    kind: 'bars',
    label: 'trade_name',
    figures: [
      days('average_days', 'Average days'),
      count('acceptances', 'Counted'),
      count('outliers', 'Outliers'),
      days('longest_days', 'Longest'),
    ],
  },
  drill: { by: ['trade_name'], order: 'approved_to_accepted_days desc nulls last' },
  empty: noRequisitions,
}

const funnel: Panel = {
  id: 'funnel',
  title: 'Candidates, stage by stage',
  about: 'Workers whose stages are tracked; a stage counts those who reached it or got further.',
  mart: 'requisition_funnel',
  date: 'requisition_created_date',
  sql: `select cast(sum(submitted) as bigint) as submitted,
  cast(sum(cv_reviewed) as bigint) as cv_reviewed,
  cast(sum(interviewed) as bigint) as interviewed,
  cast(sum(offer_made) as bigint) as offer_made,
  cast(sum(offer_accepted) as bigint) as offer_accepted,
  cast(sum(assigned) as bigint) as assigned
from mart.requisition_funnel
where {where}
having sum(submitted) > 0`,
  show: {
    kind: 'funnel',
    figures: [
      count('submitted', 'Submitted'),
      count('cv_reviewed', 'CV reviewed'),
      count('interviewed', 'Interviewed'),
      count('offer_made', 'Offer made'),
      count('offer_accepted', 'Offer accepted'),
      count('assigned', 'Assigned'),
    ],
  },
  drill: { by: [], order: 'submitted desc, requisition_id' },
  empty: 'No tracked candidates here. Stage tracking is a setting of the company.',
}

const demand: Panel = {
  id: 'open-demand',
  title: 'Open demand, by trade',
  about: 'Workers still to be found for work that has not ended, as of the last build.',
  mart: 'open_demand',
  date: 'planned_start_date',
  sql: `select trade_name,
  sum(live_open_quantity) as open_workers,
  count(*) as requisitions,
  max(days_open) as longest_open_days
from mart.open_demand
where {where}
group by trade_name
order by open_workers desc, trade_name
limit 200`,
  show: {
    kind: 'bars',
    label: 'trade_name',
    figures: [
      count('open_workers', 'Workers to find'),
      count('requisitions', 'Requisitions'),
      days('longest_open_days', 'Longest open'),
    ],
  },
  drill: { by: ['trade_name'], order: 'live_open_quantity desc, days_open desc' },
  empty: 'Nothing is open: every known requisition is filled or closed.',
}

const noShows: Panel = {
  id: 'no-shows',
  title: 'No-shows, by agency',
  about:
    'Assignments that began two weeks ago or earlier without hours on any timesheet, approved or waiting. Those before the first stored timesheet are left out.',
  mart: 'assignment_outcome',
  date: 'start_date',
  sql: `select agency_id,
  max(agency_name) as agency_name,
  sum(no_shows) as no_shows,
  sum(due_starts) as starts,
  cast(sum(no_shows) as double precision) / nullif(cast(sum(due_starts) as double precision), 0) as share_of_starts
from mart.assignment_outcome
where {where} and due_starts > 0
group by agency_id
order by no_shows desc, agency_id
limit 200`,
  show: {
    kind: 'bars',
    label: 'agency_name',
    figures: [
      count('no_shows', 'No-shows'),
      count('starts', 'Starts'),
      share('share_of_starts', 'Of all starts'),
    ],
  },
  drill: { by: ['agency_id'], order: 'no_shows desc, start_date desc, assignment_id' },
  empty: 'No assignment began two weeks ago or earlier here.',
}

const approvals: Panel = {
  id: 'approvals-waiting',
  title: 'Requisitions waiting for approval',
  about: 'Longest first; hours up to the last sync.',
  mart: 'approval_cycle',
  sql: `select requisition_approval_stage_key,
  requisition_reference,
  company_name,
  stage_name,
  hours_waiting / 24 as days_waiting
from mart.approval_cycle
where {where} and is_pending
order by hours_waiting desc nulls last
limit 50`,
  show: {
    kind: 'table',
    figures: [
      text('requisition_reference', 'Requisition'),
      text('company_name', 'Company'),
      text('stage_name', 'Stage'),
      days('days_waiting', 'Days waiting'),
    ],
  },
  drill: { by: ['requisition_approval_stage_key'], order: 'stage' },
  empty: 'Nothing waits for approval.',
  isWide: true,
}

export const hiring: DashboardPage = {
  id: 'hiring',
  title: 'Hiring',
  question: 'How long does hiring take, and where do candidates drop out?',
  panels: [distribution, besideService, byTrade, funnel, demand, noShows, outliers, approvals],
}
