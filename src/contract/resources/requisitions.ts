/** Requests for workers: their approval, the agencies they were offered to, and the workers submitted. */
import {
  type Column,
  dayOf,
  dayWrittenIn,
  derived,
  elapsedDays,
  flag,
  freeText,
  id,
  integer,
  keyOf,
  named,
  ofList,
  ofParent,
  ofRoot,
  oneOf,
  ordinal,
  quantity,
  text,
  timestamp,
} from '../fields/column.ts'
import { resource } from '../fields/resource.ts'
import { changeTimes, contact } from '../fields/shared-columns.ts'
import { each, fact } from '../fields/table.ts'
import { submissionAnswers } from './answers.ts'
import { type recruitmentStages, stageTracking } from './stage-tracking.ts'

/** The workers that the agencies submitted. */
const submissions = fact('submission', 'One row per worker that an agency submitted for a requisition.', {
  submission_key: keyOf('requisition_agency_key', 'submission_ordinal'),
  requisition_agency_key: ofParent('requisition_agency_key'),
  requisition_id: ofRoot('requisition_id'),
  agency_id: ofParent('agency_id'),
  submission_ordinal: ordinal(),
  worker_id: named('worker', 'worker'),
  submitted_at: timestamp('submittedAt', 'When the worker was submitted.'),
  is_rejected: flag('isRejected', 'Whether the submission was rejected.'),
  rejection_reason: freeText('rejectionReason', 'Why it was rejected.'),
  submitted_by_user_id: named('submittedBy', 'user'),
  assigned_by_user_id: named('assignedBy', 'user'),
})

const requisitionAgencies = fact(
  'requisition_agency',
  'One row per requisition and agency that it was offered to.',
  {
    requisition_agency_key: keyOf('requisition_id', 'agency_ordinal'),
    requisition_id: ofRoot('requisition_id'),
    agency_ordinal: ordinal(),
    agency_id: named('', 'agency'),
    company_id: ofRoot('company_id'),
    project_id: ofRoot('project_id'),
    trade_id: ofRoot('trade_id'),
    offered: integer('offered', 'Workers offered to the agency to find.'),
    assigned: integer('assigned', 'Workers assigned, without cancelled assignments.'),
    received_at: timestamp('dateReceived', 'When the agency received it.'),
    accepted_at: timestamp('dateAccepted', 'When the agency accepted it.'),
    requisition_approved_at: ofRoot('approved_at', 'timestamp'),
    submissions_count: ofList(
      'integer',
      { of: 'submissions[]', take: 'count' },
      'Workers whom the agency put forward.',
    ),
    rejected_count: ofList(
      'integer',
      { of: 'submissions[]', take: 'count', where: { key: 'isRejected', is: 'true' } },
      'Workers submitted and rejected.',
    ),
    approved_to_accepted_days: derived(
      'number',
      elapsedDays('requisition_approved_at', 'accepted_at'),
      'Days from the final approval to the acceptance by the agency.',
    ),
    received_to_accepted_days: derived(
      'number',
      elapsedDays('received_at', 'accepted_at'),
      'Days from receipt to acceptance by the agency.',
    ),
    submissions: each('submissions', submissions),
  },
)

const approvalStages = fact('requisition_approval_stage', 'One row per approval stage of a requisition.', {
  requisition_approval_stage_key: keyOf('requisition_id', 'stage_ordinal'),
  requisition_id: ofRoot('requisition_id'),
  stage_ordinal: ordinal(),
  stage: integer('stage', 'Number of the stage.'),
  stage_name: text('name', 'Name of the stage.'),
  is_approved: flag('approved', 'Whether the stage is approved.'),
  approved_at: timestamp('approvedAt', 'When it was approved; may be missing on historical stages.'),
  ...contact('approver', 'approver_contact_id', 'Who approves or approved it'),
  requisition_created_at: ofRoot('created_at', 'timestamp'),
  prior_approved_at: derived(
    'timestamp',
    'lag(approved_at) over (partition by locator order by stage_ordinal)',
    'When the previous stage was approved.',
  ),
  hours_in_stage: derived(
    'quantity',
    `cast((epoch(approved_at) - epoch(case when stage_ordinal = 1 then requisition_created_at else prior_approved_at end)) / 3600.0 as decimal(12, 4))`,
    'Hours to its approval from the previous one; for the first stage, from the creation of the requisition.',
  ),
})

const stepAt = (stage: (typeof recruitmentStages)[number], description: string): Column =>
  ofList(
    'timestamp',
    { of: 'stageTracking[].history[].at', take: 'min', where: { key: 'stage', is: stage } },
    description,
  )

/** Figures of its agencies and of the stages of its workers. */
const milestones = {
  first_received_at: ofList(
    'timestamp',
    { of: 'agencies[].dateReceived', take: 'min' },
    'When the first agency received it.',
  ),
  first_submitted_at: ofList(
    'timestamp',
    { of: 'agencies[].submissions[].submittedAt', take: 'min' },
    'When the first worker was submitted.',
  ),
  first_accepted_at: ofList(
    'timestamp',
    { of: 'agencies[].dateAccepted', take: 'min' },
    'When the first agency accepted it.',
  ),
  last_accepted_at: ofList(
    'timestamp',
    { of: 'agencies[].dateAccepted', take: 'max' },
    'When the last agency accepted it.',
  ),
  first_offer_made_at: stepAt('offerMade', 'When the first offer was made, where stages are tracked.'),
  first_offer_accepted_at: stepAt(
    'offerAccepted',
    'When the first offer was accepted, where stages are tracked.',
  ),
  agencies_count: ofList('integer', { of: 'agencies[]', take: 'count' }, 'Agencies it was offered to.'),
  offered_total: ofList(
    'integer',
    { of: 'agencies[].offered', take: 'sum' },
    'Workers offered to agencies, all of them.',
  ),
  assigned_total: ofList(
    'integer',
    { of: 'agencies[].assigned', take: 'sum' },
    'Workers assigned by all agencies, without cancelled assignments.',
  ),
  open_quantity: derived(
    'quantity',
    'quantity - coalesce(assigned_total, 0)',
    'Requested workers that are not assigned.',
  ),
}

export const requisitions = resource({
  name: 'requisitions',
  entity: 'requisition',
  description: 'Requisitions with their approval, agencies, submissions, stages and answers.',
  path: '/requisitions/{id}',
  query: { includeStageTracking: 'true' },
  read: { strategy: 'byId' },
  updatedAt: 'updatedAt',
  metric: 'timeToFill',
  expected: `
    select a.company_id, a.requisition_reference from star.fact_assignment as a
    where not a.is_deleted and a.requisition_reference is not null
    union
    select m.company_id, m.requisition_reference from star.fact_recruitment_metric_row as m
    where not m.is_deleted and m.requisition_reference is not null
    except
    select r.company_id, r.reference from star.fact_requisition as r where r.is_deleted
    union
    select r.company_id, r.reference from star.fact_requisition as r where not r.is_deleted`,
  table: fact('requisition', 'One row per requisition.', {
    requisition_id: id('id', 'Id of the requisition.'),
    reference: text('reference', 'Reference.'),
    status: oneOf(
      'status',
      ['raised', 'approved', 'filled', 'cancelled', 'rejected'],
      'State, which the service derives.',
    ),
    quantity: quantity('quantity', 'Workers that the company asks for.'),
    is_auto_assign: flag('autoAssign', 'Whether submitted workers are assigned automatically.'),
    ...contact('requestor', 'requestor_contact_id', 'Who requested workers'),
    ...contact('approver', 'approver_contact_id', 'Who approves it'),
    company_id: named('company', 'company'),
    project_id: named('project', 'project'),
    region_id: named('region', 'region'),
    sector_id: named('sector', 'sector'),
    site_id: named('site', 'site'),
    trade_id: named('trade', 'trade'),
    activity_id: named('activity', 'activity'),
    approved_at: timestamp('approvedDate', 'When it was finally approved.'),
    approved_date: dayOf('approved_at', 'Day of the final approval.'),
    planned_start_at: timestamp('startDate', 'Planned start.'),
    planned_start_date: dayWrittenIn('planned_start_at', 'Day of the planned start.'),
    planned_end_at: timestamp('endDate', 'Planned end.'),
    planned_end_date: dayWrittenIn('planned_end_at', 'Day of the planned end.'),
    cancelled_at: timestamp('cancellation.date', 'When it was cancelled, if it is.'),
    cancellation_reason: freeText('cancellation.reason', 'Why it was cancelled, if it is.'),
    cancellation_comments: freeText('cancellation.comments', 'Comments on the cancellation.'),
    ...milestones,
    ...changeTimes,
    approval_stages: each('approvalStages', approvalStages),
    agencies: each('agencies', requisitionAgencies),
    stage_tracking: each('stageTracking', stageTracking),
    answers: submissionAnswers('requisition', 'requisition_id'),
  }),
})
