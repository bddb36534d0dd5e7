/** Answers given with a submission: one for the batch and one for each worker, as far as requisitions show them. */
import { dayMs, minuteMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { iso, refOf } from '../identity.ts'
import type { Party } from './agency-responses.ts'

const answered = 0.25

export interface SubmissionAnswer {
  readonly updatedAt: string | null
  readonly [field: string]: unknown
}

export function submissionAnswers(draw: Draw, { agency, candidates }: Party): SubmissionAnswer[] {
  const [first] = candidates
  if (!first || !draw.chance(answered)) return []
  const submittedMs = Math.min(...candidates.map(({ steps }) => steps[0]?.atMs ?? Infinity))
  const amended = draw.chance(0.2)
  const shared = {
    submissionId: draw.id(submittedMs),
    agency: refOf(agency),
    submittedAt: iso(submittedMs),
    submittedBy: refOf(agency),
    updatedAt: amended ? iso(submittedMs + Math.floor(draw.fraction() * minuteMs)) : null,
    updatedBy: amended ? refOf(agency) : null,
  }
  const noteId = draw.id(submittedMs)
  const dateId = draw.id(submittedMs)
  const note = {
    fieldId: noteId,
    label: 'Anything the site should know',
    fieldType: 'text',
    value: draw.chance(0.5) ? draw.pick(['Own tools', 'Can travel together', 'Needs parking']) : null,
    answerScope: 'submission',
    workerIds: candidates.map(({ worker }) => worker.id),
    worker: null,
    displayLocations: ['requisition'],
    ...shared,
  }
  const dates = candidates.map(({ worker }) => ({
    fieldId: dateId,
    label: 'Available from',
    fieldType: 'date',
    value: iso(submittedMs + draw.between(1, 30) * dayMs).slice(0, 10),
    answerScope: 'worker',
    workerIds: [worker.id],
    worker: refOf(worker),
    displayLocations: ['requisition'],
    ...shared,
  }))
  return [note, ...dates]
}
