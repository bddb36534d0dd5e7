/** The service's own row per submitted worker: a complete list of requisition references and recruitment stages. */
import {
  dayMonthYear,
  derived,
  integer,
  keyOf,
  oneOf,
  personal,
  related,
  scope,
  text,
} from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { fact } from '../fields/table.ts'
import { recruitmentStages } from './stage-tracking.ts'

const stageDates = {
  submitted_date: dayMonthYear('submitted', 'Day the worker was submitted.'),
  cv_reviewed_date: dayMonthYear('cvReviewed', 'Day the CV was reviewed.'),
  interviewed_date: dayMonthYear('interviewed', 'Day of the interview.'),
  offer_made_date: dayMonthYear('offerMade', 'Day the offer was made.'),
  offer_accepted_date: dayMonthYear('offerAccepted', 'Day the offer was accepted.'),
  offer_rejected_date: dayMonthYear('offerRejected', 'Day the offer was rejected.'),
  assigned_date: dayMonthYear('assigned', 'Day the worker was assigned.'),
  missing_compliance_date: dayMonthYear('missingCompliance', 'Day compliance was found missing.'),
}

const dayCounts = {
  manager_review_days: integer('managerReviewDays', 'Days from submitted to CV reviewed.'),
  time_to_interview_days: integer('timeToInterviewDays', 'Days from submitted to interviewed.'),
  time_to_offer_days: integer('timeToOfferDays', 'Days from submitted to offer made.'),
  created_to_offer_days: integer(
    'timeToFillDays',
    'Days from requisition created to offer made, else to the accepted supplier response; not the aggregate time to fill.',
  ),
  time_to_offer_accepted_days: integer(
    'timeToOfferAcceptedDays',
    'Days from requisition created to offer accepted.',
  ),
  offer_to_start_days: integer('offerToStartDays', 'Days from offer accepted to requisition start.'),
}

export const metricRows = resource({
  name: 'metric-rows',
  entity: 'recruitment_metric_row',
  description: 'Recruitment metric rows of each company that tracks stages.',
  path: '/requisitions/recruitment-metrics',
  query: { metric: 'rows', sortOrder: 'asc' },
  keys: { agency: 'not at all' },
  read: {
    strategy: 'snapshot',
    per: 'companyWindow',
    rows: 'data',
    refreshDays: 7,
    orders: [{ sortBy: 'createdAt' }, { sortBy: 'reqRef' }],
  },
  table: fact(
    'recruitment_metric_row',
    'One row per requisition reference, supplier and worker, as the service counts them.',
    {
      recruitment_metric_row_key: keyOf('company_id', 'requisition_reference', 'supplier_name', 'occurrence'),
      company_id: scope('company_id', 'Company that the request named.'),
      requisition_reference: related(
        { ...text('reqRef', 'Reference of the requisition.'), required: true },
        {
          of: 'requisitions',
          at: 'reference',
          within: 'company_id',
          share: 0.7,
          because: 'the row is computed from the submissions of the requisition',
        },
      ),
      requisition_created_date: dayMonthYear('reqCreated', 'Day the requisition was created.'),
      requisition_start_date: dayMonthYear('reqStart', 'Day the requisition starts.'),
      project_name: text('project', 'Project, by name.'),
      trade_name: text('trade', 'Trade, by name.'),
      supplier_name: text('supplier', 'Agency, by name.'),
      worker_name: personal(text('worker', 'Worker, by name.')),
      ...stageDates,
      ...dayCounts,
      current_stage: oneOf('currentStage', recruitmentStages, 'Stage that the worker has reached.'),
      cv_rejected: oneOf('cvRejected', ['Yes', 'No'], 'Yes or No, as the service writes it.'),
      is_cv_rejected: derived(
        'boolean',
        `case cv_rejected when 'Yes' then true when 'No' then false end`,
        'Whether the CV was rejected.',
      ),
      occurrence: derived(
        'integer',
        `row_number() over (partition by company_id, requisition_reference, supplier_name order by worker_name, submitted_date, locator)`,
        'Number among rows with the same reference and supplier; keeps the name of the worker out of the key.',
      ),
    },
  ),
})
