/** Changes of timesheets: handed in, approved, unapproved, cancelled, amended, written, deleted. */
import { weekMs } from '../../lib/dates.ts'
import { lastFullWeek } from '../data/calendar.ts'
import { iso, type Ref, reference } from '../data/identity.ts'
import { type Shift, shiftsOf } from '../data/work/pay.ts'
import { isWhole, type Timesheet, type TimesheetBase, timesheetRecord } from '../data/work/timesheets.ts'
import type { StoredRecord } from '../records/record.ts'
import type { World } from '../world.ts'
import { cloneAssignment } from './assignment-changes.ts'
import { type ChangeContext, perWorld } from './change-context.ts'
import { creditTimesheet, unbilled } from './invoice-changes.ts'
import { create, type Finder, inStatus, remove, update, where } from './transition.ts'

type StoredTimesheet = Timesheet & StoredRecord

const isOpen = ({ status }: StoredRecord) => status === 'pending' || status === 'pending_approval'

/** Only timesheets that no expense was claimed with. */
function unclaimed<Row extends StoredRecord>(find: Finder<Row>): Finder<Row> {
  return context => {
    const timesheet = find(context)
    const claims = timesheet ? context.world.all('expenses') : []
    const isClaimed = claims.some(expense => (expense.timesheet as Ref | undefined)?.id === timesheet?.id)
    return isClaimed ? undefined : timesheet
  }
}

/** Hands in a pending timesheet, or approves one that was handed in. A few are returned, without an event. */
export const advanceTimesheet = update('timesheets', {
  from: where('timesheets', 'open', isOpen),
  make: advanced,
  sends: { pending_approval: 'timesheet_approval_requested', approved: 'timesheet_approved' },
})

function advanced(timesheet: StoredRecord, { draw, now }: ChangeContext): StoredRecord {
  if (timesheet.status === 'pending') {
    const agency = timesheet.agency as Ref | undefined
    const requester = agency && { approvalRequestedBy: { ...agency, type: 'supplier' } }
    return revised(timesheet, { status: 'pending_approval', ...requester })
  }
  if (draw.chance(0.04)) return revised(timesheet, { status: 'pending' })
  const approver = (timesheet.timesheetApprovers as readonly Ref[] | undefined)?.[0]
  const approval = { approvedDate: now, ...(approver && { approvedBy: approver }) }
  return revised(timesheet, { status: 'approved', ...approval })
}

export const unapproveTimesheet = update('timesheets', {
  from: unbilled,
  to: 'pending_approval',
  make: (timesheet, _, status) => {
    const { approvedBy, approvedDate, ...kept } = revised(timesheet, { status })
    return kept
  },
  sends: 'timesheet_unapproved',
})

/** Writes a credit note, even if no invoice bills the timesheet yet. */
export const cancelTimesheet = update('timesheets', {
  from: inStatus('timesheets', 'approved'),
  to: 'cancelled',
  make: (timesheet, _, status) => revised(timesheet, { status }),
  also: creditTimesheet,
  sends: 'timesheet_cancelled',
})

const notWorked = unclaimed(
  where<Timesheet>('timesheets', 'pending and whole', row => row.status === 'pending' && isWhole(row)),
)

/** The worker was absent: the timesheet loses its hours. */
export const reportAbsence = update('timesheets', {
  from: notWorked,
  to: 'absent',
  make: (timesheet, _, status) => revised(timesheet, { status, pieceRateEntries: [] }, []),
  sends: 'timesheet_marked_absent',
})

/** Only pending timesheets are deleted. */
export const deleteTimesheet = remove('timesheets', {
  from: unclaimed(inStatus('timesheets', 'pending')),
  sends: 'timesheet_deleted',
})

/** Only open timesheets: an approved one may be on an invoice, whose sums would be wrong. */
export const amendTimesheet = update('timesheets', {
  from: where<Timesheet>('timesheets', 'whole and open', row => isOpen(row) && isWhole(row)),
  make: (timesheet, { draw }) => {
    const shifts = shiftsOf(timesheet.timelogs)
    if (shifts.length === 0) return undefined
    const changed = draw.between(0, shifts.length - 1)
    const amend = (shift: Shift) => amendedShift(shift, () => draw.chance(0.5))
    return revised(
      timesheet,
      {},
      shifts.map((shift, index) => (index === changed ? amend(shift) : shift)),
    )
  },
  sends: 'timesheet_amended',
})

function amendedShift(shift: Shift, isShorter: () => boolean): Shift {
  const more = shift.standard > 6 && isShorter() ? -0.5 : 0.5
  const standard = shift.standard + more
  const [first, ...others] = shift.allocations
  const allocations = first ? [{ ...first, hours: Math.max(0, first.hours + more) }, ...others] : []
  const allocated = allocations.reduce((sum, item) => sum + item.hours, 0)
  const fits = allocations.length === 0 || allocated === standard + shift.overtime
  return fits ? { ...shift, standard, allocations } : shift
}

/** The next version. The timelogs and sums of a whole timesheet follow from its status and shifts. */
function revised(timesheet: StoredRecord, changes: object, shifts?: readonly Shift[]): StoredRecord {
  const version = Number(timesheet.version ?? 1) + 1
  if (!isWhole(timesheet)) return { ...timesheet, version, ...changes }
  const { timelogs, netHours, values, ...base } = timesheet as StoredTimesheet
  const after = { ...base, version, ...changes } as TimesheetBase
  return timesheetRecord(after, shifts ?? shiftsOf(timelogs), values.expense) as unknown as StoredRecord
}

const recent = where<Timesheet>(
  'timesheets',
  'recent',
  (row, { nowMs }) => isWhole(row) && String(row.weekEnding) > iso(nowMs - 3 * weekMs),
)
const whole = where<Timesheet>('timesheets', 'whole', isWhole)

/** The next week of an assignment; if that has a timesheet already, last week of a cloned assignment. */
export const writeTimesheet = create('timesheets', {
  from: context => recent(context) ?? whole(context),
  make: (model, context) => (model.timelogs.length === 0 ? undefined : next(model, context)),
  also: sendNewAssignment,
})

function next(model: StoredTimesheet, context: ChangeContext): object {
  const { timelogs, netHours, values, approvedBy, approvedDate, approvalRequestedBy, ...kept } = model
  const { laterMs, assignment } = nextWeek(context, model)
  const later = (text: string) => iso(Date.parse(text) + laterMs)
  const base: TimesheetBase = {
    ...kept,
    assignment,
    id: context.draw.id(context.nowMs),
    reference: reference('TS', context.world.nextNumber('timesheets')),
    status: 'pending',
    version: 1,
    start: later(model.start),
    end: later(model.end),
    weekEnding: later(model.weekEnding),
    pieceRateEntries: [],
    createdAt: context.now,
    updatedAt: context.now,
  }
  const shifts = shiftsOf(timelogs).map(shift => ({ ...shift, midnightMs: shift.midnightMs + laterMs }))
  return timesheetRecord(base, shifts, 0)
}

/** Company and agency come from the timesheet: the sandbox may have no record of the assignment. */
function sendNewAssignment(context: ChangeContext, model: Timesheet, written: StoredRecord): void {
  const { id } = written.assignment as Ref
  if (id === model.assignment.id) return
  context.send('assignment_created', written, { id })
  context.send('assignment_confirmed', written, { id })
}

/** One timesheet per assignment and week, and none for a week that has not begun. */
function nextWeek(context: ChangeContext, { assignment, ...model }: Timesheet) {
  const { world, nowMs } = context
  const startMs = Date.parse(model.start)
  const taken = takenWeeks(world)
  const weekEnding = iso(Date.parse(model.weekEnding) + weekMs)
  const next = `${assignment.id} ${weekEnding}`
  if (runsUntil(world, assignment.id, weekEnding) && !taken.has(next) && startMs + weekMs <= nowMs) {
    taken.add(next)
    return { laterMs: weekMs, assignment }
  }
  const clone = cloneAssignment(context, assignment)
  const laterMs = lastFullWeek(nowMs) - startMs
  taken.add(`${clone.id} ${iso(Date.parse(model.weekEnding) + laterMs)}`)
  return { laterMs, assignment: clone }
}

/** An assignment without a record in the sandbox never ends. */
function runsUntil(world: World, id: string, weekEnding: string): boolean {
  const assignment = world.get('assignments', id)
  return !assignment || (assignment.status === 'confirmed' && weekEnding <= String(assignment.endDate))
}

/** Assignment and week of every timesheet there ever was: read once, then updated by `nextWeek`. */
const takenWeeks = perWorld(
  world =>
    new Set(
      world.all('timesheets').map(row => `${(row.assignment as Ref | undefined)?.id} ${row.weekEnding}`),
    ),
)
