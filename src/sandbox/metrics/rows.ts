/** Makes the rows of the recruitment metrics: one for each worker that the stage tracking of a requisition names. */
import type { EndpointRequest } from '../declare/endpoint.ts'
import { type DayRange, instantRange } from '../declare/list.ts'
import type { RecordTest } from '../keys/scope.ts'
import type { StoredRecord } from '../record.ts'
import { type SortOrder, shuffledTies } from '../sorted-order.ts'
import type { World } from '../world.ts'
import { calendarDays, dayMonthYear, type MeasuredRequisition, type StageTracking } from './groups.ts'

interface RowsQuery extends DayRange {
  readonly agency?: readonly string[] | undefined
  readonly sortBy: 'createdAt' | 'reqRef'
  readonly sortOrder: SortOrder
}

interface TrackedRequisition {
  readonly requisition: MeasuredRequisition
  readonly tracking: StageTracking
}

/** `from` and `to` apply to the creation of the requisition. Rows are made only when they are on the page. */
export function metricRows(request: EndpointRequest, query: RowsQuery, visible: RecordTest) {
  const { world, options } = request
  const isCreatedThen = instantRange(query, options)
  const isWanted = ({ agency }: StageTracking) => query.agency?.includes(agency.id) ?? true
  const path = query.sortBy === 'reqRef' ? 'reference' : 'createdAt'
  const order = world.ordered('requisitions', path, query.sortOrder)
  const requisitions = order.records().filter(visible) as unknown as MeasuredRequisition[]
  const tracked = requisitions
    .filter(requisition => isCreatedThen(Date.parse(requisition.createdAt)))
    .flatMap(requisition =>
      (requisition.stageTracking ?? []).filter(isWanted).map(tracking => ({ requisition, tracking })),
    )
  const sortKey = ({ requisition }: TrackedRequisition) => order.keyOf(requisition as unknown as StoredRecord)
  return {
    rows: shuffledTies(tracked, sortKey, request.shuffle).map(
      row => (): StoredRecord => metricRow(row, options['day-zone']),
    ),
    meta: {},
  }
}

const dated = [
  'submitted',
  'cvReviewed',
  'interviewed',
  'offerMade',
  'offerAccepted',
  'offerRejected',
  'assigned',
  'missingCompliance',
] as const
type DatedMetric = (typeof dated)[number]

/** A CV counts as rejected when its worker was turned down before any interview. */
const beforeInterview = ['submitted', 'cvReviewed', 'interviewRequested']

function metricRow({ requisition, tracking }: TrackedRequisition, zone: string): StoredRecord {
  const created = Date.parse(requisition.createdAt)
  const start = timeOf(requisition.startDate)
  const times = Object.fromEntries(dated.map(stage => [stage, reached(tracking, stage)])) as Record<
    DatedMetric,
    number | undefined
  >
  const answered = requisition.agencies?.find(({ id }) => id === tracking.agency.id)?.dateAccepted
  const days = (from: number | undefined, to: number | undefined) =>
    from === undefined || to === undefined ? null : calendarDays(from, to, zone)
  return {
    reqRef: requisition.reference,
    reqCreated: dayMonthYear(created, zone),
    reqStart: dayMonthYear(start, zone),
    project: requisition.project?.name ?? '',
    trade: requisition.trade?.name ?? '',
    supplier: tracking.agency.name,
    worker: tracking.worker.name,
    ...Object.fromEntries(dated.map(stage => [stage, dayMonthYear(times[stage], zone)])),
    managerReviewDays: days(times.submitted, times.cvReviewed),
    timeToInterviewDays: days(times.submitted, times.interviewed),
    timeToOfferDays: days(times.submitted, times.offerMade),
    timeToFillDays: days(created, times.offerMade ?? timeOf(answered)),
    timeToOfferAcceptedDays: days(created, times.offerAccepted),
    offerToStartDays: days(times.offerAccepted, start),
    currentStage: tracking.stage,
    cvRejected: tracking.isRejected && beforeInterview.includes(tracking.stage) ? 'Yes' : 'No',
  }
}

/** A stage entered twice counts from the first time. */
function reached({ history }: StageTracking, stage: DatedMetric): number | undefined {
  return timeOf(history.find(entry => entry.stage === stage && entry.at !== null)?.at)
}

function timeOf(text: string | null | undefined): number | undefined {
  return text === null || text === undefined ? undefined : Date.parse(text)
}

/** The contract's config object has no field for it, so it is a field of its own; a company tracks stages by default. */
export function tracksStages(world: World, companyId: unknown): boolean {
  return world.get('companies', String(companyId))?.stageTracking !== false
}
