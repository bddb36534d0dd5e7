/** What happens to requisitions: raised, approved stage by stage, passed to agencies, called off. */
import { lastFullWeek, WEEK_MS } from '../data/calendar.ts'
import { between, pick } from '../data/draw.ts'
import type { Requisition } from '../data/hiring/requisitions.ts'
import { iso, objectId, reference, refOf } from '../data/identity.ts'
import type { StoredRecord } from '../records/record.ts'
import type { ChangeContext } from './change-context.ts'

const LEAD_WEEKS = 3
const WORK_WEEKS = 8
const AGENCIES_TOLD = 2

/** Records passed in by a caller may hold less than a whole requisition. */
const isWhole = (record: StoredRecord) =>
  'approvalStages' in record && 'agencies' in record && 'trade' in record && 'startDate' in record

export const isRequisition = (status: string) => (record: StoredRecord) =>
  record.status === status && isWhole(record)

export const assignedTo = ({ agencies }: Pick<Requisition, 'agencies'>): number =>
  agencies.reduce((sum, agency) => sum + agency.assigned, 0)

/** More of what was asked for once, from three weeks on. */
export function raiseRequisition(context: ChangeContext): boolean {
  const model = context.find('requisitions', 'whole', isWhole)
  if (!model) return false
  const {
    approver: _,
    approvedDate: __,
    cancellation: ___,
    ...terms
  } = model as unknown as Requisition & {
    cancellation?: object
  }
  const start = lastFullWeek(context.nowMs) + LEAD_WEEKS * WEEK_MS
  const requisition = {
    ...terms,
    id: objectId(context.rng, context.nowMs),
    reference: reference('REQ', context.world.nextNumber('requisitions')),
    status: 'raised',
    quantity: between(context.rng, 1, 4),
    approvalStages: terms.approvalStages.map(stage => ({
      ...{ ...stage, approved: false, approvedAt: null, approver: null },
    })),
    startDate: iso(start),
    endDate: iso(start + WORK_WEEKS * WEEK_MS),
    agencies: [],
    ...(terms.stageTracking ? { stageTracking: [] } : {}),
    submissionAnswers: [],
    createdAt: context.now,
    updatedAt: context.now,
  }
  context.create('requisitions', requisition)
  context.tell('requisition_created', requisition)
  return true
}

/** The next stage; with the last one the requisition is approved, and agencies receive it. */
export function approveRequisition(context: ChangeContext): boolean {
  const found = context.find('requisitions', 'raised', isRequisition('raised'))
  if (!found) return false
  const requisition = found as unknown as Requisition
  const at = requisition.approvalStages.findIndex(stage => !stage.approved)
  const approver = requisition.requestor ?? null
  const approvalStages = requisition.approvalStages.map((stage, index) =>
    index === at ? { ...stage, approved: true, approvedAt: context.now, approver } : stage,
  )
  const isLast = at === approvalStages.length - 1
  context.update('requisitions', {
    ...found,
    approvalStages,
    ...(isLast && {
      status: 'approved',
      approvedDate: context.now,
      approver,
      agencies: receivers(context, requisition.quantity),
    }),
  })
  const after = context.world.get('requisitions', requisition.id) as StoredRecord
  context.tell('requisition_approved', after)
  if (isLast) context.tell('requisition_received', after)
  return true
}

function receivers(context: ChangeContext, offered: number) {
  const known = context.list('agencies', 'any', () => true) as unknown as { id: string; name: string }[]
  const drawn = Array.from({ length: known.length > 0 ? AGENCIES_TOLD : 0 }, () => pick(context.rng, known))
  return [...new Set(drawn)].map(agency => ({
    ...refOf(agency),
    ...{ offered, assigned: 0, dateReceived: context.now, dateAccepted: null, submissions: [] },
  }))
}

/** Only while nobody is assigned. */
export function cancelRequisition(context: ChangeContext): boolean {
  const isFree = (record: StoredRecord) =>
    (isRequisition('raised')(record) || isRequisition('approved')(record)) &&
    assignedTo(record as unknown as Requisition) === 0
  const requisition = context.find('requisitions', 'free', isFree)
  if (!requisition) return false
  const reason = 'Work postponed'
  const cancellation = { reason, date: context.now, comments: `${reason}, agreed with the project` }
  context.update('requisitions', { ...requisition, status: 'cancelled', cancellation })
  context.tell('requisition_cancelled', requisition)
  return true
}
