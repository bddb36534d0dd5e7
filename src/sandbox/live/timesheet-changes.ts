/** What happens to timesheets: handed in, approved, amended, written, and undone. */
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

/** Handed in, then approved. A few are handed back, which is no event of the service: only the list shows it. */
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

/** With a credit note, whether it is on an invoice or not yet. */
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

/** A week that was written up and not worked: without hours, and without claims. */
export const markAbsent = update('timesheets', {
  from: notWorked,
  to: 'absent',
  make: (timesheet, _, status) => revised(timesheet, { status, pieceRateEntries: [] }, []),
  sends: 'timesheet_marked_absent',
})

/** A few of the pending ones are deleted by their authors. */
export const deleteTimesheet = remove('timesheets', {
  from: unclaimed(inStatus('timesheets', 'pending')),
  sends: 'timesheet_deleted',
})

/** Open timesheets only: an approved one may be on an invoice, whose sums would no longer hold. */
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

/** The next version; of a whole timesheet the timelogs and sums follow its status and its shifts. */
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

/** The worker's timesheet of the week after; where there is one already, a new assignment's of last week. */
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

/** The assignment may be one that the sandbox has no record of: the timesheet says whose it is. */
function sendNewAssignment(context: ChangeContext, model: Timesheet, written: StoredRecord): void {
  const { id } = written.assignment as Ref
  if (id === model.assignment.id) return
  context.send('assignment_created', written, { id })
  context.send('assignment_confirmed', written, { id })
}

/** One timesheet an assignment and week, and none of a week that has not begun. */
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

/** An assignment that the sandbox has no record of may run for ever. */
function runsUntil(world: World, id: string, weekEnding: string): boolean {
  const assignment = world.get('assignments', id)
  return !assignment || (assignment.status === 'confirmed' && weekEnding <= String(assignment.endDate))
}

/** Assignment and week of every timesheet there ever was: read once, then kept by `nextWeek`. */
const takenWeeks = perWorld(
  world =>
    new Set(
      world.all('timesheets').map(row => `${(row.assignment as Ref | undefined)?.id} ${row.weekEnding}`),
    ),
)
