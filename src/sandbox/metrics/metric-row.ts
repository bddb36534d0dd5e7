/** One row of the metrics: what a requisition's stage tracking says of one worker. */
import { calendarDays, dayMonthYear } from './calendar-days.ts'
import type { MeasuredRequisition, StageTracking } from './measured.ts'
import type { MetricOptions } from './options.ts'

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
type Dated = (typeof dated)[number]

/** A CV counts as rejected when its worker was turned down before any interview. */
const beforeInterview = ['submitted', 'cvReviewed', 'interviewRequested']

export function metricRow(
  requisition: MeasuredRequisition,
  tracking: StageTracking,
  { zone }: Pick<MetricOptions, 'zone'>,
) {
  const created = Date.parse(requisition.createdAt)
  const start = timeOf(requisition.startDate)
  const times = Object.fromEntries(dated.map(stage => [stage, reached(tracking, stage)])) as Record<
    Dated,
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
function reached({ history }: StageTracking, stage: Dated): number | undefined {
  return timeOf(history.find(entry => entry.stage === stage && entry.at !== null)?.at)
}

function timeOf(text: string | null | undefined): number | undefined {
  return text === null || text === undefined ? undefined : Date.parse(text)
}
