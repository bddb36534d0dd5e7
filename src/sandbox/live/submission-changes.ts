/** What agencies do with a requisition: accept it, submit workers, and have them rejected or assigned. */
import { chance, pick } from '../data/draw.ts'
import { type RecruitmentStage, stageLabels } from '../data/hiring/recruitment.ts'
import { linkTo, type Requisition } from '../data/hiring/requisitions.ts'
import { objectId, type Ref, refOf } from '../data/identity.ts'
import { firstNames, lastNames } from '../data/names.ts'
import type { StoredRecord } from '../records/record.ts'
import { follow } from './assignment-changes.ts'
import type { ChangeContext } from './change-context.ts'
import { assignedTo, isRequisition } from './requisition-changes.ts'

type Agency = Requisition['agencies'][number]
type Submission = Agency['submissions'][number]

const isApproved = isRequisition('approved')

/** An approved requisition and one of its agencies, both as they are now. */
function findAgency(
  context: ChangeContext,
  name: string,
  test: (agency: Agency, of: Requisition) => boolean,
) {
  const hasOne = (record: StoredRecord) =>
    isApproved(record) && agenciesOf(record).some(agency => test(agency, record as unknown as Requisition))
  const requisition = context.find('requisitions', name, hasOne) as Requisition | undefined
  const agency = requisition?.agencies.find(one => test(one, requisition))
  return requisition && agency && { requisition, agency }
}

const agenciesOf = (record: StoredRecord) => (record as unknown as Requisition).agencies

/** No event of the service: only reading the requisition shows it. */
export function acceptRequisition(context: ChangeContext): boolean {
  const found = findAgency(context, 'unanswered', agency => agency.dateAccepted === null)
  if (!found) return false
  save(context, found.requisition, { ...found.agency, dateAccepted: context.now })
  return true
}

export function submitWorker(context: ChangeContext): boolean {
  const found = findAgency(context, 'accepted', agency => agency.dateAccepted !== null)
  if (!found) return false
  const { requisition, agency } = found
  const { rng, nowMs, now } = context
  const worker = { id: objectId(rng, nowMs), name: `${pick(rng, firstNames)} ${pick(rng, lastNames)}` }
  const submission = { worker, submittedAt: now, isRejected: false, rejectionReason: null }
  const tracking = {
    ...{ worker, agency: refOf(agency), submittedAt: now, isRejected: false },
    ...{
      stage: 'submitted',
      stageLabel: stageLabels.submitted,
      history: [entry(context, 'submitted', agency)],
    },
  }
  const { stageTracking } = requisition
  save(
    context,
    { ...requisition, ...(stageTracking && { stageTracking: [...stageTracking, tracking] }) } as Requisition,
    { ...agency, submissions: [...agency.submissions, submission] },
  )
  context.tell('requisition_worker_submitted', current(context, requisition))
  return true
}

export function rejectWorker(context: ChangeContext): boolean {
  const found = findOpen(context)
  if (!found) return false
  const rejectionReason = pick(context.rng, ['Not enough experience', 'Position filled'])
  const changes = { isRejected: true, rejectionReason }
  save(
    context,
    tracked(found.requisition, found.submission.worker, one => ({ ...one, isRejected: true })),
    withSubmission(found.agency, { ...found.submission, ...changes }),
  )
  context.tell('requisition_worker_rejected', current(context, found.requisition), {
    agencyId: found.agency.id,
  })
  return true
}

/** Makes the assignment, on the terms of one like it; the last one fills the requisition. */
export function assignWorker(context: ChangeContext): boolean {
  const found = findOpen(context)
  if (!found || assignedTo(found.requisition) >= found.requisition.quantity) return false
  const { requisition, agency, submission } = found
  const isLike = ({ company, rates }: StoredRecord) =>
    (company as Ref | undefined)?.id === requisition.company.id && rates !== undefined
  const model = context.find('assignments', `of ${requisition.company.id}`, isLike)
  if (!model) return false
  const { company, project, region, sector, site, trade, startDate, endDate } = requisition
  const assignment = follow(context, model, {
    ...{ company, project, region, sector, site, trade, startDate, endDate },
    timesheetStartDate: startDate,
    status: 'pending',
    agency: refOf(agency),
    worker: submission.worker,
    requisition: linkTo(requisition),
  })
  const history = entry(context, 'assigned', company)
  const status = assignedTo(requisition) + 1 === requisition.quantity ? 'filled' : 'approved'
  const placed = tracked(requisition, submission.worker, one => ({
    ...{ ...one, stage: 'assigned', stageLabel: stageLabels.assigned, history: [...one.history, history] },
  }))
  save(context, { ...placed, status }, { ...agency, assigned: agency.assigned + 1 })
  context.create('assignments', assignment)
  context.tell('requisition_assigned', current(context, requisition), { agencyId: agency.id })
  context.tell('assignment_created', assignment)
  if (status === 'filled') context.tell('requisition_filled', current(context, requisition))
  return true
}

/** A worker who was submitted, and neither rejected nor assigned to anything of the requisition. */
function findOpen(context: ChangeContext) {
  const found = findAgency(context, 'with workers', (agency, of) => openOf(context, agency, of) !== undefined)
  if (!found) return undefined
  const submission = openOf(context, found.agency, found.requisition) as Submission
  return { ...found, submission }
}

function openOf(context: ChangeContext, agency: Agency, { id, stageTracking }: Requisition) {
  const open = agency.submissions.filter(submission => !submission.isRejected)
  if (open.length === 0) return undefined
  const assigned = stageTracking
    ? stageTracking.filter(({ stage }) => stage === 'assigned').map(({ worker }) => worker.id)
    : context.world.all('assignments').flatMap(row => (linked(row, id) ? [(row.worker as Ref).id] : []))
  return open.find(submission => !assigned.includes(submission.worker.id))
}

const linked = (assignment: StoredRecord, id: string) =>
  (assignment.requisition as { id: string } | undefined)?.id === id

type Tracking = NonNullable<Requisition['stageTracking']>[number]

function tracked(requisition: Requisition, worker: Ref, change: (one: Tracking) => Tracking): Requisition {
  const { stageTracking } = requisition
  if (!stageTracking) return requisition
  return {
    ...requisition,
    stageTracking: stageTracking.map(one => (one.worker.id === worker.id ? change(one) : one)),
  }
}

function entry({ now, rng }: ChangeContext, stage: RecruitmentStage, by: Ref) {
  const byUserId = chance(rng, 0.02) ? null : by.id
  return { stage, stageLabel: stageLabels[stage], at: now, byUserId, byName: by.name, comments: '' }
}

function withSubmission(agency: Agency, changed: Submission): Agency {
  const submissions = agency.submissions.map(one => (one.worker.id === changed.worker.id ? changed : one))
  return { ...agency, submissions }
}

function save(context: ChangeContext, requisition: Requisition, changed: Agency): void {
  const agencies = requisition.agencies.map(one => (one.id === changed.id ? changed : one))
  context.update('requisitions', { ...requisition, agencies })
}

const current = ({ world }: ChangeContext, { id }: Requisition) =>
  world.get('requisitions', id) as StoredRecord
