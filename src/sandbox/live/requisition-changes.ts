/** Changes of requisitions: raised, approved stage by stage, cancelled. */
import { weekMs } from '../../lib/dates.ts'
import { lastFullWeek } from '../data/calendar.ts'
import { cancellation, type Requisition } from '../data/hiring/requisitions.ts'
import { iso, type Ref, reference, refOf } from '../data/identity.ts'
import type { StoredRecord } from '../records/record.ts'
import type { ChangeContext } from './change-context.ts'
import { create, update, where } from './transition.ts'

const leadWeeks = 3
const workWeeks = 8
const agenciesAsked = 2

/** Records passed in by a caller may lack most of a requisition. */
const isWhole = (record: StoredRecord) =>
  'approvalStages' in record && 'agencies' in record && 'trade' in record && 'startDate' in record

export const isRequisition = (record: StoredRecord, ...statuses: readonly string[]) =>
  statuses.includes(String(record.status)) && isWhole(record)

export const assignedTo = ({ agencies }: Pick<Requisition, 'agencies'>): number =>
  agencies.reduce((sum, agency) => sum + agency.assigned, 0)

/** Like an earlier requisition, starting in three weeks. */
export const raiseRequisition = create('requisitions', {
  from: where<Requisition>('requisitions', 'whole', isWhole),
  make: raised,
  sends: 'requisition_created',
})

function raised(model: Requisition & StoredRecord, { world, draw, now, nowMs }: ChangeContext): object {
  const { approver, approvedDate, cancellation: _, ...terms } = model
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
    ...(terms.stageTracking ? { stageTracking: [] } : {}),
    submissionAnswers: [],
    createdAt: now,
    updatedAt: now,
  }
}

/** Approves the next stage. The last stage approves the requisition and sends it to agencies. */
export const approveRequisition = update('requisitions', {
  from: where<Requisition>('requisitions', 'raised', row => isRequisition(row, 'raised')),
  make: approved,
  sends: { raised: 'requisition_approved', approved: ['requisition_approved', 'requisition_received'] },
})

function approved(requisition: Requisition, context: ChangeContext): object {
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

function receivers(context: ChangeContext, offered: number) {
  const any = { collection: 'agencies', state: 'any', test: () => true } as const
  const known = context.list(any) as readonly (StoredRecord & Ref)[]
  const drawn = Array.from({ length: known.length > 0 ? agenciesAsked : 0 }, () => context.draw.pick(known))
  return [...new Set(drawn)].map(agency => ({
    ...refOf(agency),
    ...{ offered, assigned: 0, dateReceived: context.now, dateAccepted: null, submissions: [] },
  }))
}

/** Only before anybody is assigned. */
export const cancelRequisition = update('requisitions', {
  from: where(
    'requisitions',
    'free',
    row => isRequisition(row, 'raised', 'approved') && assignedTo(row as unknown as Requisition) === 0,
  ),
  to: 'cancelled',
  make: (requisition, { now }) => ({ ...requisition, cancellation: cancellation('Work postponed', now) }),
  sends: 'requisition_cancelled',
})
