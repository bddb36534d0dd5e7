/** Changes requisitions, agencies' parts in them, and the assignments that fill them. */
import { weekMs } from '../../lib/dates.ts'
import { lastFullWeek } from '../data/calendar.ts'
import { historyEntry } from '../data/hiring/agency-responses.ts'
import {
  type Assignment,
  ending,
  type PlacementTerms,
  type PlannedShift,
  plannedValues,
} from '../data/hiring/assignments.ts'
import { linkTo, type Requisition } from '../data/hiring/requisitions.ts'
import { iso, type RecordLink, type Ref, reference, refOf } from '../data/identity.ts'
import { personName } from '../data/names.ts'
import { add } from '../data/work/pay.ts'
import type { StoredRecord } from '../record.ts'
import { type ChangeContext, inStatus, perWorld, type RecordFinder, where } from './change.ts'

type InvitedAgency = Requisition['agencies'][number]
type Submission = InvitedAgency['submissions'][number]
type Tracking = NonNullable<Requisition['stageTracking']>[number]

const leadWeeks = 3
const workWeeks = 8
const agenciesAsked = 2

export const assignedTo = ({ agencies }: Requisition): number =>
  agencies.reduce((sum, agency) => sum + agency.assigned, 0)

/** A new requisition like an earlier one, starting in three weeks. */
export function raised(model: Requisition, { world, draw, now, nowMs }: ChangeContext): object {
  const { approver, approvedDate, cancellation, ...terms } = model
  const start = lastFullWeek(nowMs) + leadWeeks * weekMs
  return {
    ...terms,
    id: draw.id(nowMs),
    reference: reference('REQ', world.nextNumber('requisitions')),
    status: 'raised',
    quantity: draw.between(1, 4),
    approvalStages: terms.approvalStages.map(stage => ({
      ...{ ...stage, approved: false, approvedAt: null, approver: null },
    })),
    startDate: iso(start),
    endDate: iso(start + workWeeks * weekMs),
    agencies: [],
    ...(terms.stageTracking && { stageTracking: [] }),
    submissionAnswers: [],
    createdAt: now,
    updatedAt: now,
  }
}

/** Approves the next stage. The last stage approves the requisition and sends it to agencies. */
export function approved(requisition: Requisition, context: ChangeContext): object {
  const { now } = context
  const at = requisition.approvalStages.findIndex(stage => !stage.approved)
  const approver = requisition.requestor ?? null
  const approvalStages = requisition.approvalStages.map((stage, index) =>
    index === at ? { ...stage, approved: true, approvedAt: now, approver } : stage,
  )
  const isLast = at === approvalStages.length - 1
  const agencies = isLast ? receivers(context, requisition.quantity) : []
  const approval = isLast && { status: 'approved', approvedDate: now, approver, agencies }
  return { ...requisition, approvalStages, ...approval }
}

function receivers({ world, draw, now }: ChangeContext, offered: number) {
  const known = world.all('agencies') as unknown as readonly Ref[]
  const drawn = Array.from({ length: known.length > 0 ? agenciesAsked : 0 }, () => draw.pick(known))
  return [...new Set(drawn)].map(agency => ({
    ...refOf(agency),
    ...{ offered, assigned: 0, dateReceived: now, dateAccepted: null, submissions: [] },
  }))
}

/** An approved requisition and one of its agencies. */
interface Response {
  readonly requisition: Requisition
  readonly agency: InvitedAgency
}

interface OpenSubmission extends Response {
  readonly submission: Submission
}

interface Placing extends OpenSubmission {
  readonly assignment: object
}

type AgencyTest = (agency: InvitedAgency, of: Requisition, context: ChangeContext) => boolean

function response(state: string, test: AgencyTest): RecordFinder<Response> {
  const agencyOf = (requisition: Requisition, context: ChangeContext) =>
    requisition.agencies.find(agency => test(agency, requisition, context))
  const find = where(
    'requisitions',
    state,
    (row, context) => row.status === 'approved' && agencyOf(row, context) !== undefined,
  )
  return context => {
    const requisition = find(context)
    return requisition && { requisition, agency: agencyOf(requisition, context) as InvitedAgency }
  }
}

export const unanswered = response('unanswered', ({ dateAccepted }) => dateAccepted === null)
export const accepted = response('accepted', ({ dateAccepted }) => dateAccepted !== null)
const withWorkers = response('with workers', (...of) => openSubmission(...of) !== undefined)

/** A worker who was submitted and is neither rejected nor assigned. */
export const undecided: RecordFinder<OpenSubmission> = context => {
  const found = withWorkers(context)
  const submission = found && openSubmission(found.agency, found.requisition, context)
  return submission && { ...found, submission }
}

function openSubmission(agency: InvitedAgency, { id, stageTracking }: Requisition, context: ChangeContext) {
  const open = agency.submissions.filter(submission => !submission.isRejected)
  if (open.length === 0) return undefined
  const assigned = stageTracking
    ? stageTracking.filter(({ stage }) => stage === 'assigned')
    : context.all('assignments').filter(({ requisition }) => requisition?.id === id)
  return open.find(({ worker }) => !assigned.some(one => one.worker.id === worker.id))
}

/** An open submission with the assignment it leads to, on the terms of another of the company. */
export const placeable: RecordFinder<Placing> = context => {
  const found = undecided(context)
  if (!found || assignedTo(found.requisition) >= found.requisition.quantity) return undefined
  const { requisition, agency, submission } = found
  const { company, project, region, sector, site, trade, startDate, endDate } = requisition
  const likeIt = where('assignments', `of ${company.id}`, row => row.company.id === company.id)
  const model = likeIt(context)
  if (!model) return undefined
  const assignment = newAssignment(context, model, {
    ...newLink(context),
    ...{ company, project, region, sector, site, trade, startDate, endDate },
    timesheetStartDate: startDate,
    status: 'pending',
    agency: refOf(agency),
    worker: submission.worker,
    requisition: linkTo(requisition),
  })
  return { ...found, assignment }
}

export const answered = ({ requisition, agency }: Response, { now }: ChangeContext) =>
  withAgency(requisition, { ...agency, dateAccepted: now })

export function submitted({ requisition, agency }: Response, { draw, nowMs, now }: ChangeContext): object {
  const worker = { id: draw.id(nowMs), name: personName(draw) }
  const submission = { worker, submittedAt: now, isRejected: false, rejectionReason: null }
  const tracking = {
    ...{ worker, agency: refOf(agency), submittedAt: now, isRejected: false },
    ...reached(historyEntry(draw, { stage: 'submitted', at: now, by: agency }), []),
  }
  const { stageTracking } = requisition
  const tracked = stageTracking && { stageTracking: [...stageTracking, tracking] }
  const submissions = [...agency.submissions, submission]
  return withAgency({ ...requisition, ...tracked }, { ...agency, submissions })
}

export function rejected(
  { requisition, agency, submission }: OpenSubmission,
  { draw }: ChangeContext,
): object {
  const rejectionReason = draw.pick(['Not enough experience', 'Position filled'])
  const submissions = agency.submissions.map(one =>
    one.worker.id === submission.worker.id ? { ...submission, isRejected: true, rejectionReason } : one,
  )
  const tracked = withTracking(requisition, submission, one => ({ ...one, isRejected: true }))
  return withAgency(tracked, { ...agency, submissions })
}

/** The last assignment fills the requisition. */
export function placed({ requisition, agency, submission }: Placing, { draw, now }: ChangeContext): object {
  const last = historyEntry(draw, { stage: 'assigned', at: now, by: requisition.company })
  const tracked = withTracking(requisition, submission, one => ({ ...one, ...reached(last, one.history) }))
  const isFilled = assignedTo(requisition) + 1 === requisition.quantity
  const after = withAgency(tracked, { ...agency, assigned: agency.assigned + 1 })
  return { ...after, status: isFilled ? 'filled' : 'approved' }
}

export function addAssignment(
  context: ChangeContext,
  { agency, assignment }: Placing,
  after: StoredRecord,
): void {
  context.create('assignments', assignment)
  context.send('requisition_assigned', after, { agencyId: agency.id })
  context.send('assignment_created', assignment)
}

function withTracking(
  requisition: Requisition,
  { worker }: Submission,
  change: (one: Tracking) => Tracking,
): Requisition {
  const { stageTracking } = requisition
  if (!stageTracking) return requisition
  const changed = stageTracking.map(one => (one.worker.id === worker.id ? change(one) : one))
  return { ...requisition, stageTracking: changed }
}

function reached(last: Tracking['history'][number], before: Tracking['history']) {
  const { stage, stageLabel } = last
  return { stage, stageLabel, history: [...before, last] }
}

function withAgency(requisition: Requisition, changed: InvitedAgency): Requisition {
  const agencies = requisition.agencies.map(one => (one.id === changed.id ? changed : one))
  return { ...requisition, agencies }
}

const extensionWeeks = 4

export const pending = inStatus('assignments', 'pending')

const withValues = (terms: object): object => ({ ...terms, values: plannedValues(terms as PlacementTerms) })

/** The next number of a reference: above those of the generated assignments, and never used twice. */
const numbers = perWorld(world => ({
  next: Math.max(world.nextNumber('assignments'), world.nextNumber('timesheets')),
}))

export const newLink = ({ draw, nowMs, world }: ChangeContext): RecordLink => ({
  id: draw.id(nowMs),
  reference: reference('ASG', numbers(world).next++),
})

/** A new assignment on the terms of another. */
export function newAssignment({ now }: ChangeContext, model: Assignment, more: object): object {
  const { ended, completedDate, replacement, cancellation, requisition, ...others } = model
  const { reinstatement, confirmationDate, clone, purchaseOrder, ...terms } = others
  const fresh = { weeksElapsed: 0, activities: [], submissionAnswers: [], createdAt: now, updatedAt: now }
  return withValues({ ...terms, ...fresh, ...more })
}

const closing = ({ now }: ChangeContext, { company }: Assignment, reason: string) =>
  ending(reason, now, company)

export const calledOff = (assignment: Assignment, context: ChangeContext) => ({
  ...assignment,
  cancellation: closing(context, assignment, 'No longer needed'),
})

/** A filled requisition opens again when one of its assignments is cancelled. */
export function release(context: ChangeContext, { requisition: link, agency }: Assignment): void {
  const requisition = context.get('requisitions', link?.id ?? '')
  if (!requisition) return
  const { status, agencies } = requisition
  context.update('requisitions', {
    ...requisition,
    status: status === 'filled' ? 'approved' : status,
    agencies: agencies.map(one =>
      one.id === agency.id ? { ...one, assigned: Math.max(0, one.assigned - 1) } : one,
    ),
  })
}

export function ended(assignment: Assignment, context: ChangeContext): object {
  const reason = context.draw.pick(['Worker left', 'Work finished early'])
  const { reinstatement, ...others } = assignment
  return withValues({
    ...others,
    ended: closing(context, assignment, reason),
    endDate: context.now,
  })
}

export function reinstated(assignment: Assignment, context: ChangeContext): object {
  const reinstatement = closing(context, assignment, 'Ended in error')
  const { ended: _, ...others } = assignment
  const endDate = iso(context.nowMs + extensionWeeks * weekMs)
  return withValues({ ...others, reinstatement, endDate })
}

type AmendmentMaker = (assignment: Assignment, context: ChangeContext) => object | undefined

const amendments = {
  dates: ({ endDate }, { draw }) => ({ endDate: iso(Date.parse(endDate) + draw.between(1, 6) * weekMs) }),
  rates: ({ rates }) => ({ rates: { pay: add(rates.pay, 0.5), charge: add(rates.charge, 0.5) } }),
  shift: ({ shiftPattern }) => {
    const earlier = Object.entries(shiftPattern).map(([day, shift]) => [day, anHourEarlier(shift)])
    return { shiftPattern: Object.fromEntries(earlier) }
  },
  trade: ({ company }, context) => {
    const trades = context.all('trades').filter(trade => trade.company.id === company.id)
    return trades.length > 0 ? { trade: refOf(context.draw.pick(trades)) } : undefined
  },
} as const satisfies Readonly<Record<string, AmendmentMaker>>

function anHourEarlier(shift: PlannedShift): PlannedShift {
  if (!shift.active) return shift
  return { ...shift, start: ((shift.start ?? 0) + 23) % 24, end: ((shift.end ?? 0) + 23) % 24 }
}

interface AmendmentRequest {
  readonly assignment: Assignment
  readonly part: keyof typeof amendments
}

/** An assignment can change only before it begins: afterwards its timesheets repeat the terms. */
export const amendable: RecordFinder<AmendmentRequest> = context => {
  const assignment = pending(context)
  const part = assignment && context.draw.pick(Object.keys(amendments) as AmendmentRequest['part'][])
  return part && { assignment, part }
}

export function amendedAssignment(
  { assignment, part }: AmendmentRequest,
  context: ChangeContext,
): object | undefined {
  const changes = amendments[part](assignment, context)
  return changes && withValues({ ...assignment, ...changes })
}

export const sendAmendment = (context: ChangeContext, { part }: AmendmentRequest, after: StoredRecord) =>
  context.send(`assignment_${part}_updated`, after)
