/** Changes of assignments: confirmed, cancelled, ended, reinstated, amended and cloned. */
import { dayMs, weekMs } from '../../lib/dates.ts'
import { lastFullWeek } from '../data/calendar.ts'
import { ending } from '../data/hiring/assignment-history.ts'
import type { Requisition } from '../data/hiring/requisitions.ts'
import { type PlannedShift, plannedValues, type Terms } from '../data/hiring/shift-pattern.ts'
import { iso, type Link, type Ref, reference, refOf } from '../data/identity.ts'
import { add } from '../data/work/pay.ts'
import type { StoredRecord } from '../records/record.ts'
import { type ChangeContext, perWorld } from './change-context.ts'
import { update, where } from './transition.ts'

type Assignment = StoredRecord & Terms

const cloneWeeks = 4

/** Records passed in by a caller may lack most of an assignment. */
const isWhole = (record: StoredRecord): record is Assignment =>
  'rates' in record && 'shiftPattern' in record && 'startDate' in record && 'endDate' in record
const isIn = (status: string, record: StoredRecord) => record.status === status && isWhole(record)

const pending = where<Assignment>('assignments', 'pending', row => isIn('pending', row))

const withValues = (assignment: Assignment): Assignment => ({
  ...assignment,
  values: plannedValues(assignment),
})

/** The next number of a reference: above those of the generated assignments, and never used twice. */
const numbers = perWorld(world => ({
  next: Math.max(world.nextNumber('assignments'), world.nextNumber('timesheets')),
}))

/** Fields that a new assignment does not take from its model. */
const ownFields = [
  'ended',
  'completedDate',
  'replacement',
  'cancellation',
  'requisition',
  'reinstatement',
  'confirmationDate',
  'clone',
  'purchaseOrder',
]

/** A new assignment on the terms of another. */
export function follow(context: ChangeContext, model: StoredRecord, more: StoredRecord): StoredRecord {
  const terms = Object.entries(model).filter(([field]) => !ownFields.includes(field))
  const assignment = {
    ...Object.fromEntries(terms),
    id: context.draw.id(context.nowMs),
    reference: reference('ASG', numbers(context.world).next++),
    weeksElapsed: 0,
    activities: [],
    submissionAnswers: [],
    createdAt: context.now,
    updatedAt: context.now,
    ...more,
  }
  return isWhole(assignment) ? withValues(assignment) : assignment
}

/** The clone begins last week and belongs to no requisition. */
export function cloneAssignment(context: ChangeContext, original: Link): Link {
  const start = lastFullWeek(context.nowMs)
  const model = context.world.get('assignments', original.id)
  const clone = follow(context, model ?? {}, {
    status: 'confirmed',
    startDate: iso(start),
    timesheetStartDate: iso(start),
    endDate: iso(start + cloneWeeks * weekMs - dayMs),
    confirmationDate: context.now,
    clone: { date: context.now, original },
  })
  if (model) context.create('assignments', clone)
  return { id: String(clone.id), reference: String(clone.reference) }
}

export const confirmAssignment = update('assignments', {
  from: pending,
  to: 'confirmed',
  make: (assignment, { now }) => ({ ...assignment, confirmationDate: now }),
  sends: 'assignment_confirmed',
})

/** Before the first day. */
export const cancelAssignment = update('assignments', {
  from: pending,
  to: 'cancelled',
  make: (assignment, context) => {
    const cancellation = closing(context, assignment, 'No longer needed')
    return { ...assignment, cancellation }
  },
  also: release,
  sends: 'assignment_cancelled',
})

/** A filled requisition opens again when one of its assignments is cancelled. */
function release(context: ChangeContext, { requisition: link, agency }: StoredRecord): void {
  const requisition = context.world.get('requisitions', (link as Link | undefined)?.id ?? '')
  if (!requisition) return
  const { status, agencies } = requisition as unknown as Requisition
  context.update('requisitions', {
    ...requisition,
    status: status === 'filled' ? 'approved' : status,
    agencies: agencies.map(one =>
      one.id === (agency as Ref).id ? { ...one, assigned: Math.max(0, one.assigned - 1) } : one,
    ),
  })
}

export const endAssignment = update('assignments', {
  from: where<Assignment>(
    'assignments',
    'running',
    (row, { now }) => isIn('confirmed', row) && String(row.startDate) < now && String(row.endDate) > now,
  ),
  to: 'ended',
  make: (assignment, context) => {
    const reason = context.draw.pick(['Worker left', 'Work finished early'])
    const ended = closing(context, assignment, reason)
    const { reinstatement, ...kept } = assignment
    return withValues({ ...kept, ended, endDate: context.now } as Assignment)
  },
  sends: 'assignment_ended',
})

/** Only if no replacement was assigned. */
export const reinstateAssignment = update('assignments', {
  from: where<Assignment>('assignments', 'ended', row => isIn('ended', row) && row.replacement === undefined),
  to: 'confirmed',
  make: (assignment, context) => {
    const reinstatement = closing(context, assignment, 'Ended in error')
    const endDate = iso(context.nowMs + cloneWeeks * weekMs)
    const { ended, ...kept } = assignment
    return withValues({ ...kept, reinstatement, endDate } as Assignment)
  },
  sends: 'assignment_reinstated',
})

function closing({ now }: ChangeContext, { agency, company }: StoredRecord, reason: string) {
  return ending(reason, now, company ?? agency)
}

const parts = ['dates', 'rates', 'shift', 'trade'] as const

/** Only before it begins: later its timesheets hold the terms. */
export const amendAssignment = update('assignments', {
  from: context => {
    const assignment = pending(context)
    return assignment && { assignment, part: context.draw.pick(parts) }
  },
  make: ({ assignment, part }, context) => {
    const changes = amendments[part](assignment, context)
    return changes && withValues({ ...assignment, ...changes })
  },
  also: (context, { part }, after) => context.send(`assignment_${part}_updated`, after),
})

type Amend = (assignment: Assignment, context: ChangeContext) => object | undefined

const amendments: Readonly<Record<(typeof parts)[number], Amend>> = {
  dates: ({ endDate }, { draw }) => ({ endDate: iso(Date.parse(endDate) + draw.between(1, 6) * weekMs) }),
  rates: ({ rates }) => ({ rates: { pay: add(rates.pay, 0.5), charge: add(rates.charge, 0.5) } }),
  shift: ({ shiftPattern }) => {
    const earlier = Object.entries(shiftPattern).map(([day, shift]) => [day, anHourEarlier(shift)])
    return { shiftPattern: Object.fromEntries(earlier) }
  },
  trade: ({ company }, { world, draw }) => {
    const companyId = (company as Ref | undefined)?.id
    const trades = world.all('trades').filter(trade => (trade.company as Ref | undefined)?.id === companyId)
    return trades.length > 0 ? { trade: refOf(draw.pick(trades) as unknown as Ref) } : undefined
  },
}

function anHourEarlier(shift: PlannedShift): PlannedShift {
  if (!shift.active) return shift
  return { ...shift, start: ((shift.start ?? 0) + 23) % 24, end: ((shift.end ?? 0) + 23) % 24 }
}
