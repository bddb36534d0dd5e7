/** Generates responses of agencies to a requisition: times, candidates with the stages they reached, and answers to questions. */
import { dayMs, minuteMs } from '../../../lib/dates.ts'
import { groupBy } from '../../../lib/group-by.ts'
import type { Draw } from '../draw.ts'
import { iso, type Ref, refOf } from '../identity.ts'
import type { Agency } from '../master/companies.ts'
import type { RecordMaking } from '../master/master-data.ts'
import { personName } from '../names.ts'
import type { Placement } from '../work/placements.ts'

/** One agency's part in a requisition. */
export interface AgencyResponse {
  readonly agency: Agency
  readonly offered: number
  readonly receivedMs: number
  readonly acceptedMs: number | undefined
  readonly candidates: readonly RecruitmentCandidate[]
  /** Workers who were assigned, including assignments that were cancelled later. */
  readonly placements: readonly Placement[]
}

/** From the final approval until the first worker is assigned or the requisition closes. */
type ResponsePeriod = readonly [fromMs: number, untilMs: number]

const latestAnswerMs = 28 * dayMs
const answersShare = 0.75
const questionsAnswered = 0.25

/** Responses of agencies whose workers were assigned, then those of the other agencies. */
export function agencyResponses(
  making: RecordMaking,
  placements: readonly Placement[],
  opening: ResponsePeriod,
): AgencyResponse[] {
  const { draw } = making
  const byAgency = groupBy(placements, placement => placement.agency)
  const winners = [...byAgency.values()].map(own => winningResponse(draw, own, opening))
  return [...winners, ...otherResponses(making, winners, opening)]
}

function winningResponse(draw: Draw, own: readonly Placement[], [fromMs]: ResponsePeriod): AgencyResponse {
  const [{ agency }] = own as readonly [Placement]
  const soonest = Math.min(...own.map(placement => placement.createdMs))
  const receivedMs = fromMs + draw.between(1, 30) * minuteMs
  const acceptedMs = Math.floor(receivedMs + draw.fraction() ** 3 * 0.6 * (soonest - receivedMs))
  const assigned = own.map(({ worker, createdMs }) =>
    assignedCandidate(draw, worker, [acceptedMs, createdMs]),
  )
  const more = draw.chance(0.35) ? [otherCandidate(draw, [acceptedMs, soonest])] : []
  return {
    ...{ agency, receivedMs, acceptedMs, placements: own },
    offered: own.length + (draw.chance(0.3) ? 1 : 0),
    candidates: [...assigned, ...more],
  }
}

/**
 * Responses of agencies without assigned workers. Some do not answer; most answer within days, some late: the outliers of
 * time to fill.
 */
function otherResponses(
  { draw, master }: RecordMaking,
  winners: readonly AgencyResponse[],
  [fromMs, untilMs]: ResponsePeriod,
): AgencyResponse[] {
  const asked = new Set(winners.map(({ agency }) => agency))
  const responses: AgencyResponse[] = []
  for (let left = draw.between(winners.length > 0 ? 0 : 1, 3); left > 0; left -= 1) {
    const agency = draw.skewed(master.agencies)
    const nextTier = draw.chance(0.3) ? dayMs : 0
    const receivedMs = fromMs + nextTier + draw.between(1, 30) * minuteMs
    const answeredMs = Math.floor(receivedMs + draw.fraction() ** 3 * latestAnswerMs)
    const answers = draw.chance(answersShare) && answeredMs < untilMs
    const count = draw.between(0, 2)
    if (asked.has(agency) || receivedMs >= untilMs) continue
    asked.add(agency)
    responses.push({
      ...{ agency, offered: 1, receivedMs, placements: [] },
      acceptedMs: answers ? answeredMs : undefined,
      candidates: draw.times(answers ? count : 0, () => otherCandidate(draw, [answeredMs, untilMs])),
    })
  }
  return responses
}

/** Answers given with a submission: one for the batch and one for each worker. */
export function submissionAnswers(draw: Draw, { agency, candidates }: AgencyResponse) {
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

const stageLabels = {
  submitted: 'Submitted',
  cvReviewed: 'CV reviewed',
  interviewRequested: 'Interview requested',
  interviewed: 'Interviewed',
  offerMade: 'Offer made',
  offerAccepted: 'Offer accepted',
  offerRejected: 'Offer rejected',
  assigned: 'Assigned',
  missingCompliance: 'Missing compliance',
} as const

type RecruitmentStage = keyof typeof stageLabels

const road: readonly RecruitmentStage[] = [
  'submitted',
  'cvReviewed',
  'interviewRequested',
  'interviewed',
  'offerMade',
  'offerAccepted',
  'assigned',
]

/** Stages off the main path, each with the stage before it. */
const branches: Partial<Record<RecruitmentStage, RecruitmentStage>> = {
  offerRejected: 'offerMade',
  missingCompliance: 'offerAccepted',
}

/** The last stages of workers who are not assigned, with weights. */
const endings = [
  ['submitted', 16],
  ['cvReviewed', 22],
  ['interviewRequested', 9],
  ['interviewed', 16],
  ['offerMade', 8],
  ['offerRejected', 10],
  ['offerAccepted', 10],
  ['missingCompliance', 9],
] as const

const rejectionReasons = [
  'Not enough experience',
  'Card out of date',
  'Not available on the start date',
  'Did not attend the interview',
  'Position filled',
]

/** Employers reject only before an offer; after it the worker declines or a document is missing. */
const rejectedShare = 0.6
const rejectable: readonly RecruitmentStage[] = ['submitted', 'cvReviewed', 'interviewed']

interface StageStep {
  readonly stage: RecruitmentStage
  readonly atMs: number
}

interface RecruitmentCandidate {
  readonly worker: Ref
  /** In order of time; the last one is the worker's current stage. */
  readonly steps: readonly [StageStep, ...StageStep[]]
  readonly rejectionReason: string | undefined
}

function stepsTo(stage: RecruitmentStage): RecruitmentStage[] {
  const before = branches[stage]
  return before ? [...stepsTo(before), stage] : road.slice(0, road.indexOf(stage) + 1)
}

/** Random times within a span, in ascending order. */
function spread(draw: Draw, [fromMs, toMs]: readonly [number, number], count: number): number[] {
  const width = Math.max(0, toMs - fromMs)
  return draw
    .times(count, () => Math.floor(fromMs + draw.fraction() * width))
    .sort((left, right) => left - right)
}

/** Passes every stage and is assigned at the end of the span. */
function assignedCandidate(draw: Draw, worker: Ref, span: readonly [number, number]): RecruitmentCandidate {
  const stages = stepsTo('assigned')
  const times = [...spread(draw, span, stages.length - 1), span[1]]
  return { worker, steps: joined(stages, times), rejectionReason: undefined }
}

function otherCandidate(draw: Draw, span: readonly [number, number]): RecruitmentCandidate {
  const stages = stepsTo(draw.weighted(endings))
  const times = spread(draw, span, stages.length)
  const worker = { id: draw.id(times[0] as number), name: personName(draw) }
  const last = stages.at(-1) as RecruitmentStage
  const rejected = rejectable.includes(last) && draw.chance(rejectedShare)
  return {
    worker,
    steps: joined(stages, times),
    rejectionReason: rejected ? draw.pick(rejectionReasons) : undefined,
  }
}

function joined(
  stages: readonly RecruitmentStage[],
  times: readonly number[],
): RecruitmentCandidate['steps'] {
  return stages.map((stage, index) => ({ stage, atMs: times[index] as number })) as [
    StageStep,
    ...StageStep[],
  ]
}

/** Suppliers take these steps; the company takes the others. */
const bySupplier: readonly RecruitmentStage[] = ['submitted', 'offerAccepted', 'offerRejected']
/** Shares of steps without a time or a user: the service did not always record them. */
const undated = 0.01
const unnamed = 0.02

export function historyOf(
  draw: Draw,
  { steps, rejectionReason }: RecruitmentCandidate,
  actors: { readonly company: readonly Ref[]; readonly agency: Ref },
) {
  return steps.map(({ stage, atMs }, index) => {
    const by = bySupplier.includes(stage) ? actors.agency : draw.pick(actors.company)
    const last = index === steps.length - 1
    const at = stage === 'interviewRequested' && draw.chance(undated) ? null : iso(atMs)
    const comments =
      (last && rejectionReason) || (stage === 'missingCompliance' ? 'Card not yet verified' : '')
    return { ...historyEntry(draw, { stage, at, by }), comments }
  })
}

interface ReachedStage {
  readonly stage: RecruitmentStage
  readonly at: string | null
  readonly by: Ref
}

export function historyEntry(draw: Draw, { stage, at, by }: ReachedStage) {
  const byUserId = draw.chance(unnamed) ? null : by.id
  return { stage, stageLabel: stageLabels[stage], at, byUserId, byName: by.name, comments: '' }
}
