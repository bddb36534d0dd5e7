/** Answers to the questions asked when workers were submitted. */
import {
  bookkeeping,
  type Column,
  constant,
  derived,
  freeText,
  json,
  keyOf,
  ofParent,
  ofRoot,
  oneOf,
  ordinal,
  personal,
  ref,
  text,
  timestamp,
  untyped,
} from '../fields/column.ts'
import { bridge, each, eachValue, fact } from '../fields/table.ts'

const owner = (entity: string, entityKey: string): Record<string, Column> => ({
  entity: constant(entity, 'Kind of record: requisition, assignment or timesheet.'),
  entity_id: { ...ofRoot(entityKey), description: 'Id of the record.' },
})

const answerWorkers = (entity: string, entityKey: string) =>
  bridge('answer_worker', 'One row per worker that an answer covers.', {
    answer_worker_key: keyOf('submission_answer_key', 'worker_ordinal'),
    submission_answer_key: ofParent('submission_answer_key'),
    ...owner(entity, entityKey),
    worker_ordinal: ordinal(),
    worker_id: ref('', 'worker'),
  })

const answerLocations = (entity: string, entityKey: string) =>
  bridge('answer_location', 'One row per place where an answer is displayed.', {
    answer_location_key: keyOf('submission_answer_key', 'location_ordinal'),
    submission_answer_key: ofParent('submission_answer_key'),
    ...owner(entity, entityKey),
    location_ordinal: ordinal(),
    location: text('', 'Place where it is displayed.'),
  })

/** The answers saved with a record; their text is free text and goes to pii.text. */
export function submissionAnswers(entity: string, entityKey: string) {
  return each(
    'submissionAnswers',
    fact('submission_answer', 'One row per answer saved with a requisition, assignment or timesheet.', {
      submission_answer_key: keyOf('entity', 'entity_id', 'answer_ordinal'),
      ...owner(entity, entityKey),
      answer_ordinal: ordinal(),
      submission_question_id: ref('fieldId', 'submission_question', {
        label: 'label',
        field_type: 'fieldType',
        answer_scope: 'answerScope',
      }),
      answer_scope: oneOf('answerScope', ['submission', 'worker'], 'Whole submission, or each worker.'),
      submission_id: text('submissionId', 'Batch of workers submitted together.'),
      agency_id: ref('agency.id', 'agency', { name: 'agency.name' }),
      worker_id: ref('worker.id', 'worker', { name: 'worker.name' }),
      value: untyped(freeText('value', 'The answer; a list of options as JSON.')),
      option_count: derived(
        'integer',
        `case when value like '[%' then json_array_length(try_cast(value as json)) end`,
        'How many options were selected, for answers that are lists.',
      ),
      submitted_at: timestamp('submittedAt', 'When it was submitted.'),
      submitted_by: personal(json('submittedBy', 'Who submitted it.')),
      updated_at: bookkeeping(timestamp('updatedAt', 'When it last changed.')),
      updated_by: personal(json('updatedBy', 'Who changed it last.')),
      workers: eachValue('workerIds', answerWorkers(entity, entityKey)),
      locations: eachValue('displayLocations', answerLocations(entity, entityKey)),
    }),
  )
}
