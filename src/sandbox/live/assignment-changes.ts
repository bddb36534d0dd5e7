/** What happens to assignments: confirmed, amended, cancelled, ended, taken up again, and followed by others. */
import { DAY_MS, lastFullWeek, WEEK_MS } from '../data/calendar.ts'
import { between, pick } from '../data/draw.ts'
import type { Requisition } from '../data/hiring/requisitions.ts'
import type { PlannedShift } from '../data/hiring/shift-pattern.ts'
import { iso, objectId, type Ref, reference, refOf } from '../data/identity.ts'
import { add, times } from '../data/work/pay.ts'
import type { StoredRecord } from '../records/record.ts'
import type { World } from '../world.ts'
import type { ChangeContext } from './change-context.ts'

interface Link {
  readonly id: string
  readonly reference: string
}

interface Terms {
  readonly startDate: string
  readonly endDate: string
  readonly shiftPattern: Readonly<Record<string, PlannedShift>>
  readonly rates: { readonly pay: number; readonly charge: number }
}

const CLONE_WEEKS = 4

/** Records passed in by a caller may hold less than a whole assignment. */
const isWhole = (record: StoredRecord) =>
  'rates' in record && 'shiftPattern' in record && 'startDate' in record && 'endDate' in record
const isIn = (status: string) => (record: StoredRecord) => record.status === status && isWhole(record)

/** Hours of the shifts over the weeks begun, at the basic rate. */
function planned({ startDate, endDate, shiftPattern, rates }: Terms) {
  const shifts = Object.values(shiftPattern).filter(shift => shift.active)
  const hours = shifts.reduce(
    (sum, { start, end, break: minutes }) =>
      sum + (((end ?? 0) - (start ?? 0) + 24) % 24) - (minutes ?? 0) / 60,
    0,
  )
  const weeks = Math.ceil((Date.parse(endDate) - Date.parse(startDate)) / WEEK_MS)
  return { pay: times(hours * weeks, rates.pay), charge: times(hours * weeks, rates.charge) }
}

/** The next number of a reference: above any that the generated assignments have, and never given twice. */
const numbers = new WeakMap<World, number>()

function nextNumber(world: World): number {
  const number =
    numbers.get(world) ?? Math.max(world.nextNumber('assignments'), world.nextNumber('timesheets'))
  numbers.set(world, number + 1)
  return number
}

/** Another assignment on the same terms. */
export function follow(context: ChangeContext, model: StoredRecord, more: StoredRecord): StoredRecord {
  const { ended: _, completedDate: __, replacement: ___, cancellation: ____, ...open } = model
  const {
    requisition: _____,
    reinstatement: ______,
    confirmationDate: _______,
    clone: ________,
    ...rest
  } = open
  const { purchaseOrder: _________, ...terms } = rest
  const assignment = {
    ...terms,
    id: objectId(context.rng, context.nowMs),
    reference: reference('ASG', nextNumber(context.world)),
    weeksElapsed: 0,
    activities: [],
    submissionAnswers: [],
    createdAt: context.now,
    updatedAt: context.now,
    ...more,
  }
  return isWhole(assignment) ? { ...assignment, values: planned(assignment as never) } : assignment
}

/** The clone begins last week and answers no requisition. */
export function cloneAssignment(context: ChangeContext, original: Link): Link {
  const start = lastFullWeek(context.nowMs)
  const model = context.world.get('assignments', original.id)
  const clone = follow(context, model ?? {}, {
    status: 'confirmed',
    startDate: iso(start),
    timesheetStartDate: iso(start),
    endDate: iso(start + CLONE_WEEKS * WEEK_MS - DAY_MS),
    confirmationDate: context.now,
    clone: { date: context.now, original },
  })
  if (model) context.create('assignments', clone)
  return { id: String(clone.id), reference: String(clone.reference) }
}

export function confirmAssignment(context: ChangeContext): boolean {
  const assignment = context.find('assignments', 'pending', isIn('pending'))
  if (!assignment) return false
  context.update('assignments', { ...assignment, status: 'confirmed', confirmationDate: context.now })
  context.tell('assignment_confirmed', assignment)
  return true
}

/** Before the first day. The requisition that it answered is open for another one. */
export function cancelAssignment(context: ChangeContext): boolean {
  const assignment = context.find('assignments', 'pending', isIn('pending'))
  if (!assignment) return false
  const cancellation = outcome(context, assignment, 'No longer needed')
  context.update('assignments', { ...assignment, status: 'cancelled', cancellation })
  release(context, assignment)
  context.tell('assignment_cancelled', assignment)
  return true
}

function release(context: ChangeContext, { requisition: link, agency }: StoredRecord): void {
  const record = context.world.get('requisitions', (link as Link | undefined)?.id ?? '')
  if (!record) return
  const { status, agencies } = record as unknown as Requisition
  context.update('requisitions', {
    ...record,
    status: status === 'filled' ? 'approved' : status,
    agencies: agencies.map(one =>
      one.id === (agency as Ref).id ? { ...one, assigned: Math.max(0, one.assigned - 1) } : one,
    ),
  })
}

export function endAssignment(context: ChangeContext): boolean {
  const isRunning = (record: StoredRecord) =>
    isIn('confirmed')(record) &&
    String(record.startDate) < context.now &&
    String(record.endDate) > context.now
  const assignment = context.find('assignments', 'running', isRunning)
  if (!assignment) return false
  const ended = outcome(context, assignment, pick(context.rng, ['Worker left', 'Work finished early']))
  const { reinstatement: _, ...kept } = assignment
  context.update('assignments', changed(kept, { status: 'ended', ended, endDate: context.now }))
  context.tell('assignment_ended', assignment)
  return true
}

/** Not where somebody else took the place. */
export function reinstateAssignment(context: ChangeContext): boolean {
  const isAlone = (record: StoredRecord) => isIn('ended')(record) && record.replacement === undefined
  const assignment = context.find('assignments', 'ended', isAlone)
  if (!assignment) return false
  const { ended: _, ...kept } = assignment
  const reinstatement = outcome(context, assignment, 'Ended in error')
  const endDate = iso(context.nowMs + CLONE_WEEKS * WEEK_MS)
  context.update('assignments', changed(kept, { status: 'confirmed', reinstatement, endDate }))
  context.tell('assignment_reinstated', assignment)
  return true
}

const amendments = ['dates', 'rates', 'shift', 'trade'] as const

/** Only what has not begun: timesheets say what the terms of the others are. */
export function amendAssignment(context: ChangeContext): boolean {
  const assignment = context.find('assignments', 'pending', isIn('pending'))
  if (!assignment) return false
  const what = pick(context.rng, amendments)
  const changes = amended(context, assignment, what)
  if (!changes) return false
  context.update('assignments', changed(assignment, changes))
  context.tell(`assignment_${what}_updated`, assignment)
  return true
}

function amended(
  { rng, world }: ChangeContext,
  assignment: StoredRecord,
  what: (typeof amendments)[number],
): StoredRecord | undefined {
  const { endDate, rates, shiftPattern } = assignment as unknown as Terms
  if (what === 'dates') return { endDate: iso(Date.parse(endDate) + between(rng, 1, 6) * WEEK_MS) }
  if (what === 'rates') return { rates: { pay: add(rates.pay, 0.5), charge: add(rates.charge, 0.5) } }
  if (what === 'shift') {
    const earlier = (shift: PlannedShift) =>
      shift.active
        ? { ...shift, start: ((shift.start ?? 0) + 23) % 24, end: ((shift.end ?? 0) + 23) % 24 }
        : shift
    const entries = Object.entries(shiftPattern).map(([day, shift]) => [day, earlier(shift)])
    return { shiftPattern: Object.fromEntries(entries) }
  }
  const company = (assignment.company as Ref | undefined)?.id
  const trades = world.all('trades').filter(trade => (trade.company as Ref | undefined)?.id === company)
  return trades.length > 0 ? { trade: refOf(pick(rng, trades) as unknown as Ref) } : undefined
}

function changed(assignment: StoredRecord, changes: StoredRecord): StoredRecord {
  const after = { ...assignment, ...changes }
  return { ...after, values: planned(after as never) }
}

function outcome({ now }: ChangeContext, { agency, company }: StoredRecord, reason: string) {
  return { reason, date: now, comments: `${reason}, told to the supplier`, user: company ?? agency }
}
