/** The stages that submitted workers of a requisition pass, where the company tracks them. */
import {
  derived,
  elapsedDays,
  flag,
  freeText,
  keyOf,
  named,
  ofParent,
  ofRoot,
  oneOf,
  ordinal,
  personal,
  ref,
  text,
  timestamp,
} from '../fields/column.ts'
import { each, fact } from '../fields/table.ts'

/** Stages that a submitted worker passes, in the order of the contract. */
export const recruitmentStages = [
  'submitted',
  'cvReviewed',
  'interviewRequested',
  'interviewed',
  'offerMade',
  'offerAccepted',
  'offerRejected',
  'assigned',
  'missingCompliance',
] as const

const ofTracking = {
  submission_stage_key: ofParent('submission_stage_key'),
  requisition_id: ofRoot('requisition_id'),
  worker_id: ofParent('worker_id'),
  agency_id: ofParent('agency_id'),
}

/** Orders steps by time; steps without a time come last, in the order of the list. */
const later = 'over (partition by locator, submission_stage_key order by event_at nulls last, event_ordinal)'

const stageEvents = fact('stage_event', 'One row per step of a worker through the stages of a requisition.', {
  stage_event_key: keyOf('submission_stage_key', 'event_ordinal'),
  ...ofTracking,
  event_ordinal: ordinal(),
  stage: oneOf('stage', recruitmentStages, 'Stage that the worker came to.'),
  stage_label: text('stageLabel', 'Stage, as displayed.'),
  event_at: timestamp('at', 'When the stage was entered.'),
  by_user_id: ref('byUserId', 'user', { name: 'byName' }),
  by_name: personal(text('byName', 'Name of who entered it.')),
  comments: freeText('comments', 'Comments.'),
  exited_at: derived('timestamp', `lead(event_at) ${later}`, 'When the next stage was entered.'),
  days_in_stage: derived('number', elapsedDays('event_at', 'exited_at'), 'Days until the next stage.'),
})

export const stageTracking = fact(
  'submission_stage',
  'One row per requisition, worker and agency whose stages are tracked.',
  {
    submission_stage_key: keyOf('requisition_id', 'tracking_ordinal'),
    requisition_id: ofRoot('requisition_id'),
    tracking_ordinal: ordinal(),
    worker_id: named('worker', 'worker'),
    agency_id: named('agency', 'agency'),
    submitted_at: timestamp('submittedAt', 'When the worker was submitted.'),
    is_rejected: flag('isRejected', 'Whether the submission was rejected.'),
    current_stage: oneOf('stage', recruitmentStages, 'Stage that the worker has reached.'),
    stage_label: text('stageLabel', 'Stage reached, as displayed.'),
    history: each('history', stageEvents),
  },
)
