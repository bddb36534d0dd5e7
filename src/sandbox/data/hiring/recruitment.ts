/** A worker's path through recruitment: the stages and when each was reached. */
import type { Draw } from '../draw.ts'
import { iso, type Ref } from '../identity.ts'
import { personName } from '../names.ts'

export const stageLabels = {
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

export type RecruitmentStage = keyof typeof stageLabels

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

export interface Step {
  readonly stage: RecruitmentStage
  readonly atMs: number
}

export interface Candidate {
  readonly worker: Ref
  /** In order of time; the last one is the worker's current stage. */
  readonly steps: readonly Step[]
  readonly rejectionReason: string | undefined
}

function stepsTo(stage: RecruitmentStage): RecruitmentStage[] {
  const before = branches[stage]
  return before ? [...stepsTo(before), stage] : road.slice(0, road.indexOf(stage) + 1)
}

/** Random times within a span, in ascending order. */
function spread(draw: Draw, [fromMs, toMs]: readonly [number, number], count: number): number[] {
  const width = Math.max(0, toMs - fromMs)
  return Array.from({ length: count }, () => Math.floor(fromMs + draw.fraction() * width)).sort(
    (left, right) => left - right,
  )
}

/** Passes every stage and is assigned at the end of the span. */
export function assignedCandidate(draw: Draw, worker: Ref, span: readonly [number, number]): Candidate {
  const stages = stepsTo('assigned')
  const times = [...spread(draw, span, stages.length - 1), span[1]]
  return { worker, steps: joined(stages, times), rejectionReason: undefined }
}

export function otherCandidate(draw: Draw, span: readonly [number, number]): Candidate {
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

function joined(stages: readonly RecruitmentStage[], times: readonly number[]): Step[] {
  return stages.map((stage, index) => ({ stage, atMs: times[index] as number }))
}

interface Actors {
  readonly company: readonly Ref[]
  readonly agency: Ref
}

/** Suppliers take these steps; the company takes the others. */
const bySupplier: readonly RecruitmentStage[] = ['submitted', 'offerAccepted', 'offerRejected']
/** Shares of steps without a time or a user: the service did not always record them. */
const undated = 0.01
const unnamed = 0.02

export function historyOf(draw: Draw, { steps, rejectionReason }: Candidate, actors: Actors) {
  return steps.map(({ stage, atMs }, index) => {
    const by = bySupplier.includes(stage) ? actors.agency : draw.pick(actors.company)
    const last = index === steps.length - 1
    const at = stage === 'interviewRequested' && draw.chance(undated) ? null : iso(atMs)
    const comments =
      (last && rejectionReason) || (stage === 'missingCompliance' ? 'Card not yet verified' : '')
    return { ...historyEntry(draw, { stage, at, by }), comments }
  })
}

interface Reached {
  readonly stage: RecruitmentStage
  readonly at: string | null
  readonly by: Ref
}

export function historyEntry(draw: Draw, { stage, at, by }: Reached) {
  const byUserId = draw.chance(unnamed) ? null : by.id
  return { stage, stageLabel: stageLabels[stage], at, byUserId, byName: by.name, comments: '' }
}
