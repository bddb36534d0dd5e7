/** Responses of agencies to a requisition: times, candidates, and answers to questions. */
import { dayMs, minuteMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { groupBy } from '../group-by.ts'
import { iso, refOf } from '../identity.ts'
import type { Agency } from '../master/companies.ts'
import type { Placement } from '../work/placements.ts'
import { assignedCandidate, type Candidate, otherCandidate } from './recruitment.ts'

/** One agency's part in a requisition. */
export interface AgencyResponse {
  readonly agency: Agency
  readonly offered: number
  readonly receivedMs: number
  readonly acceptedMs: number | undefined
  readonly candidates: readonly Candidate[]
  /** Workers who were assigned, including assignments that were cancelled later. */
  readonly placements: readonly Placement[]
}

/** From the final approval until the first worker is assigned or the requisition closes. */
export type Opening = readonly [fromMs: number, untilMs: number]

const latestAnswerMs = 28 * dayMs
const answersShare = 0.75
const questionsAnswered = 0.25

/** Responses of agencies whose workers were assigned. */
export function winningResponses(
  draw: Draw,
  placements: readonly Placement[],
  [fromMs]: Opening,
): AgencyResponse[] {
  return [...groupBy(placements, placement => placement.agency)].map(([agency, own]) => {
    const soonest = Math.min(...own.map(placement => placement.createdMs))
    const receivedMs = fromMs + draw.between(1, 30) * minuteMs
    const acceptedMs = Math.floor(receivedMs + draw.fraction() ** 3 * 0.6 * (soonest - receivedMs))
    const assigned = own.map(placement =>
      assignedCandidate(draw, placement.worker, [acceptedMs, placement.createdMs]),
    )
    const more = draw.chance(0.35) ? [otherCandidate(draw, [acceptedMs, soonest])] : []
    return {
      agency,
      offered: own.length + (draw.chance(0.3) ? 1 : 0),
      receivedMs,
      acceptedMs,
      candidates: [...assigned, ...more],
      placements: own,
    }
  })
}

export interface Asking {
  readonly agencies: readonly Agency[]
  readonly besides: readonly Agency[]
  readonly least: number
  readonly opening: Opening
}

/**
 * Responses of agencies that were asked in vain: some do not answer, and none of their workers is
 * assigned. Most answer within days, some late: the outliers of time to fill.
 */
export function otherResponses(draw: Draw, { agencies, besides, least, opening }: Asking): AgencyResponse[] {
  const asked = new Set(besides)
  const responses: AgencyResponse[] = []
  for (let left = draw.between(least, 3); left > 0; left -= 1) {
    const agency = draw.skewed(agencies)
    const nextTier = draw.chance(0.3) ? dayMs : 0
    const receivedMs = opening[0] + nextTier + draw.between(1, 30) * minuteMs
    const answeredMs = Math.floor(receivedMs + draw.fraction() ** 3 * latestAnswerMs)
    const answers = draw.chance(answersShare) && answeredMs < opening[1]
    const count = draw.between(0, 2)
    if (asked.has(agency) || receivedMs >= opening[1]) continue
    asked.add(agency)
    responses.push({
      agency,
      offered: 1,
      receivedMs,
      acceptedMs: answers ? answeredMs : undefined,
      candidates: answers
        ? Array.from({ length: count }, () => otherCandidate(draw, [answeredMs, opening[1]]))
        : [],
      placements: [],
    })
  }
  return responses
}

export interface SubmissionAnswer {
  readonly updatedAt: string | null
  readonly [field: string]: unknown
}

/** Answers given with a submission: one for the batch and one for each worker. */
export function submissionAnswers(draw: Draw, { agency, candidates }: AgencyResponse): SubmissionAnswer[] {
  const [first] = candidates
  if (!first || !draw.chance(questionsAnswered)) return []
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
