/** Changes of an agency's part in a requisition: accepted, workers submitted, rejected and assigned. */
import { historyEntry } from '../data/hiring/recruitment.ts'
import { linkTo, type Requisition } from '../data/hiring/requisitions.ts'
import { type Ref, refOf } from '../data/identity.ts'
import { personName } from '../data/names.ts'
import type { StoredRecord } from '../records/record.ts'
import { follow } from './assignment-changes.ts'
import type { ChangeContext } from './change-context.ts'
import { assignedTo, isRequisition } from './requisition-changes.ts'
import { type Finder, update, where } from './transition.ts'

type Agency = Requisition['agencies'][number]
type Submission = Agency['submissions'][number]
type Tracking = NonNullable<Requisition['stageTracking']>[number]

/** An approved requisition and one of its agencies. */
interface Response {
  readonly requisition: Requisition
  readonly agency: Agency
}

interface OpenSubmission extends Response {
  readonly submission: Submission
}

interface Placing extends OpenSubmission {
  readonly assignment: StoredRecord
}

type AgencyTest = (agency: Agency, of: Requisition, context: ChangeContext) => boolean

const response =
  (state: string, test: AgencyTest): Finder<Response> =>
  context => {
    const agencyOf = (requisition: Requisition) =>
      requisition.agencies.find(agency => test(agency, requisition, context))
    const withAgency = where<Requisition>(
      'requisitions',
      state,
      row => isRequisition(row, 'approved') && agencyOf(row as unknown as Requisition) !== undefined,
    )
    const requisition = withAgency(context)
    return requisition && { requisition, agency: agencyOf(requisition) as Agency }
  }

const withWorkers = response('with workers', (...of) => openSubmission(...of) !== undefined)

/** A worker who was submitted and is neither rejected nor assigned. */
const undecided: Finder<OpenSubmission> = context => {
  const found = withWorkers(context)
  const submission = found && openSubmission(found.agency, found.requisition, context)
  return submission && { ...found, submission }
}

function openSubmission(agency: Agency, { id, stageTracking }: Requisition, { world }: ChangeContext) {
  const open = agency.submissions.filter(submission => !submission.isRejected)
  if (open.length === 0) return undefined
  const isOwn = ({ requisition }: StoredRecord) => (requisition as Ref | undefined)?.id === id
  const assigned = stageTracking
    ? stageTracking.filter(({ stage }) => stage === 'assigned').map(({ worker }) => worker.id)
    : world.all('assignments').flatMap(row => (isOwn(row) ? [(row.worker as Ref).id] : []))
  return open.find(submission => !assigned.includes(submission.worker.id))
}

/** An open submission with the assignment it leads to, on the terms of a similar assignment. */
const placeable: Finder<Placing> = context => {
  const found = undecided(context)
  if (!found || assignedTo(found.requisition) >= found.requisition.quantity) return undefined
  const { requisition, agency, submission } = found
  const likeIt = where(
    'assignments',
    `of ${requisition.company.id}`,
    ({ company, rates }) =>
      (company as Ref | undefined)?.id === requisition.company.id && rates !== undefined,
  )
  const model = likeIt(context)
  if (!model) return undefined
  const { company, project, region, sector, site, trade, startDate, endDate } = requisition
  const assignment = follow(context, model, {
    ...{ company, project, region, sector, site, trade, startDate, endDate },
    timesheetStartDate: startDate,
    status: 'pending',
    agency: refOf(agency),
    worker: submission.worker,
    requisition: linkTo(requisition),
  })
  return { ...found, assignment }
}

/** Sends no event: only the requisition shows it. */
export const acceptRequisition = update('requisitions', {
  from: response('unanswered', ({ dateAccepted }) => dateAccepted === null),
  make: ({ requisition, agency }, { now }) => withAgency(requisition, { ...agency, dateAccepted: now }),
})

export const submitWorker = update('requisitions', {
  from: response('accepted', ({ dateAccepted }) => dateAccepted !== null),
  make: submitted,
  sends: 'requisition_worker_submitted',
})

function submitted({ requisition, agency }: Response, context: ChangeContext): object {
  const { draw, nowMs, now } = context
  const worker = { id: draw.id(nowMs), name: personName(draw) }
  const submission = { worker, submittedAt: now, isRejected: false, rejectionReason: null }
  const tracking = {
    ...{ worker, agency: refOf(agency), submittedAt: now, isRejected: false },
    ...reached(historyEntry(draw, { stage: 'submitted', at: now, by: agency }), []),
  }
  const { stageTracking } = requisition
  const tracked = stageTracking && { stageTracking: [...stageTracking, tracking] }
  const submissions = [...agency.submissions, submission]
  return withAgency({ ...requisition, ...tracked } as Requisition, { ...agency, submissions })
}

export const rejectWorker = update('requisitions', {
  from: undecided,
  make: ({ requisition, agency, submission }, { draw }) => {
    const rejectionReason = draw.pick(['Not enough experience', 'Position filled'])
    const submissions = agency.submissions.map(one =>
      one.worker.id === submission.worker.id ? { ...submission, isRejected: true, rejectionReason } : one,
    )
    const tracked = withTracking(requisition, submission.worker, one => ({ ...one, isRejected: true }))
    return withAgency(tracked, { ...agency, submissions })
  },
  also: (context, { agency }, after) =>
    context.send('requisition_worker_rejected', after, { agencyId: agency.id }),
})

/** Creates the assignment. The last assignment fills the requisition. */
export const assignWorker = update('requisitions', {
  from: placeable,
  make: ({ requisition, agency, submission }, context) => {
    const last = historyEntry(context.draw, { stage: 'assigned', at: context.now, by: requisition.company })
    const tracked = withTracking(requisition, submission.worker, one => ({
      ...{ ...one, ...reached(last, one.history) },
    }))
    const isFilled = assignedTo(requisition) + 1 === requisition.quantity
    const after = withAgency(tracked, { ...agency, assigned: agency.assigned + 1 })
    return { ...after, status: isFilled ? 'filled' : 'approved' }
  },
  also: (context, { agency, assignment }, after) => {
    context.create('assignments', assignment)
    context.send('requisition_assigned', after, { agencyId: agency.id })
    context.send('assignment_created', assignment)
  },
  sends: { filled: 'requisition_filled' },
})

function withTracking(requisition: Requisition, worker: Ref, change: (one: Tracking) => Tracking) {
  const { stageTracking } = requisition
  if (!stageTracking) return requisition
  const changed = stageTracking.map(one => (one.worker.id === worker.id ? change(one) : one))
  return { ...requisition, stageTracking: changed }
}

type HistoryEntry = Tracking['history'][number]

function reached(last: HistoryEntry, before: readonly HistoryEntry[]) {
  const { stage, stageLabel } = last
  return { stage, stageLabel, history: [...before, last] }
}

function withAgency(requisition: Requisition, changed: Agency): Requisition {
  const agencies = requisition.agencies.map(one => (one.id === changed.id ? changed : one))
  return { ...requisition, agencies }
}
