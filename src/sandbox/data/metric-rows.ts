/** Recruitment metric rows: one a worker put forward for a requisition. */
import type { Rng } from '../../lib/rng.ts'
import { DAY_MS } from './calendar.ts'
import type { Agency } from './companies.ts'
import { between, chance, pick, skewedIndex, weighted } from './draw.ts'
import { iso, objectId, reference } from './identity.ts'
import { firstNames, lastNames, trades } from './names.ts'
import type { Project } from './projects.ts'
import type { Scene } from './scene.ts'

/** The way of a worker through recruitment, and the share that goes no further than each stage. */
const endings = [
  ['submitted', 12],
  ['cvReviewed', 14],
  ['interviewRequested', 6],
  ['interviewed', 10],
  ['offerMade', 6],
  ['offerRejected', 6],
  ['offerAccepted', 8],
  ['missingCompliance', 6],
  ['assigned', 32],
] as const

const order = ['submitted', 'cvReviewed', 'interviewed', 'offerMade', 'offerAccepted', 'assigned'] as const
type Step = (typeof order)[number]

const lastStep: Readonly<Record<string, Step>> = {
  interviewRequested: 'cvReviewed',
  offerRejected: 'offerMade',
  missingCompliance: 'offerAccepted',
}

interface Requisition {
  readonly reqRef: string
  readonly createdMs: number
  readonly startMs: number
  readonly project: Project
  readonly trade: string
}

export function makeMetricRows(
  scene: Scene,
  cast: { projects: readonly Project[]; agencies: readonly Agency[] },
) {
  const rng = scene.rng('metrics')
  const rows: ReturnType<typeof rowOf>[] = []
  for (let number = 1; rows.length < scene.counts.metricRows; number += 1) {
    const createdMs = scene.firstWeekMs + rng() * (scene.endMs - scene.firstWeekMs - 3 * DAY_MS)
    const requisition = {
      reqRef: reference('REQ', number),
      createdMs,
      startMs: createdMs + between(rng, 14, 60) * DAY_MS,
      project: pick(rng, cast.projects),
      trade: pick(rng, trades).name,
    }
    const workers = Math.min(between(rng, 1, 4), scene.counts.metricRows - rows.length)
    for (let left = workers; left > 0; left -= 1) {
      const agency = cast.agencies[skewedIndex(rng, cast.agencies.length)] as Agency
      rows.push(rowOf(scene, rng, { requisition, agency }))
    }
  }
  return rows
}

function rowOf(
  scene: Scene,
  rng: Rng,
  { requisition, agency }: { requisition: Requisition; agency: Agency },
) {
  const { reqRef, createdMs, startMs, project, trade } = requisition
  const ending = weighted(rng, endings)
  const { dates, reached } = journey(scene, rng, {
    fromMs: createdMs,
    last: lastStep[ending] ?? (ending as Step),
  })
  const cut = reached !== (lastStep[ending] ?? ending)
  const stage = cut ? reached : ending
  const after =
    stage === 'offerRejected'
      ? dates.offerMade
      : stage === 'missingCompliance'
        ? dates.offerAccepted
        : undefined
  return {
    id: objectId(rng, createdMs),
    reqRef,
    reqCreated: ukDay(createdMs),
    reqStart: ukDay(startMs),
    project: project.name,
    trade,
    supplier: agency.name,
    worker: `${pick(rng, firstNames)} ${pick(rng, lastNames)}`,
    ...Object.fromEntries(order.map(step => [step, ukDay(dates[step])])),
    offerRejected: stage === 'offerRejected' ? ukDay(after) : '',
    missingCompliance: stage === 'missingCompliance' ? ukDay(after) : '',
    managerReviewDays: daysFrom(dates.submitted, dates.cvReviewed),
    timeToInterviewDays: daysFrom(dates.submitted, dates.interviewed),
    timeToOfferDays: daysFrom(dates.submitted, dates.offerMade),
    timeToFillDays: daysFrom(createdMs, dates.offerMade),
    timeToOfferAcceptedDays: daysFrom(createdMs, dates.offerAccepted),
    offerToStartDays: daysFrom(dates.offerAccepted, startMs),
    currentStage: stage,
    cvRejected: stage === 'cvReviewed' && chance(rng, 0.5) ? 'Yes' : 'No',
    companyId: project.company.id,
    projectId: project.id,
    agencyId: agency.id,
    created: iso(createdMs),
  }
}

/** Step after step, one to six days apart, until the last one or the end of the scene. */
function journey(scene: Scene, rng: Rng, { fromMs, last }: { fromMs: number; last: Step }) {
  const dates: Partial<Record<Step, number>> = {}
  let at = fromMs
  let reached: Step = 'submitted'
  for (const step of order) {
    at += between(rng, 1, 6) * DAY_MS
    if (step !== 'submitted' && at >= scene.endMs) break
    dates[step] = Math.min(at, scene.endMs - 1)
    reached = step
    if (step === last) break
  }
  return { dates, reached }
}

function ukDay(ms: number | undefined): string {
  if (ms === undefined) return ''
  const [year, month, day] = iso(ms).slice(0, 10).split('-')
  return `${day}/${month}/${year}`
}

function daysFrom(from: number | undefined, to: number | undefined): number | null {
  if (from === undefined || to === undefined) return null
  return Math.floor(to / DAY_MS) - Math.floor(from / DAY_MS)
}
