/** The agencies that a requisition was offered to, and the workers they submitted. */
import {
  derived,
  elapsedDays,
  flag,
  freeText,
  integer,
  keyOf,
  named,
  ofList,
  ofParent,
  ofRoot,
  ordinal,
  timestamp,
} from '../fields/column.ts'
import { each, fact } from '../fields/table.ts'

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

export const requisitionAgencies = fact(
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
