/** What happens to timesheets: handed in, approved, amended, written anew. */
import { lastFullWeek, WEEK_MS } from '../data/calendar.ts'
import { between, chance, pick } from '../data/draw.ts'
import { iso, objectId, type Ref, reference } from '../data/identity.ts'
import { type Shift, shiftsOf } from '../data/work/pay.ts'
import { type Timesheet, type TimesheetBase, timesheetRecord } from '../data/work/timesheets.ts'
import type { StoredRecord } from '../records/record.ts'
import type { World } from '../world.ts'
import { cloneAssignment } from './assignment-changes.ts'
import type { ChangeContext } from './change-context.ts'

const isOpen = (record: StoredRecord) => record.status === 'pending' || record.status === 'pending_approval'

/** Records passed in by a caller may hold less than a whole timesheet: those are never amended. */
export const isWhole = (record: StoredRecord) =>
  'timelogs' in record && 'rates' in record && 'values' in record

export function advanceTimesheet(context: ChangeContext): boolean {
  const timesheet = context.find('timesheets', 'open', isOpen)
  if (!timesheet) return false
  const changes = nextState(context, timesheet)
  context.update('timesheets', withBase(timesheet, changes))
  // Handing one back is no event of the service: only reading the list shows it.
  if (changes.status === 'pending_approval') context.tell('timesheet_approval_requested', timesheet)
  if (changes.status === 'approved') context.tell('timesheet_approved', timesheet)
  return true
}

function nextState(context: ChangeContext, timesheet: StoredRecord): StoredRecord {
  const version = Number(timesheet.version ?? 1) + 1
  if (timesheet.status === 'pending') {
    const agency = timesheet.agency as Ref | undefined
    const requester = agency ? { approvalRequestedBy: { ...agency, type: 'supplier' } } : {}
    return { status: 'pending_approval', version, ...requester }
  }
  if (chance(context.rng, 0.04)) return { status: 'pending', version }
  const approver = (timesheet.timesheetApprovers as readonly Ref[] | undefined)?.[0]
  return {
    status: 'approved',
    version,
    approvedDate: context.now,
    ...(approver ? { approvedBy: approver } : {}),
  }
}

/** Open timesheets only: an approved one may be on an invoice, whose sums would no longer hold. */
export function amendTimesheet(context: ChangeContext): boolean {
  const timesheet = context.find('timesheets', 'whole and open', record => isOpen(record) && isWhole(record))
  if (!timesheet) return false
  const shifts = shiftsOf((timesheet as unknown as Timesheet).timelogs)
  if (shifts.length === 0) return false
  const changed = between(context.rng, 0, shifts.length - 1)
  const amended = shifts.map((shift, index) => (index === changed ? amendShift(context, shift) : shift))
  const version = Number(timesheet.version ?? 1) + 1
  context.update('timesheets', rebuilt(timesheet, { version }, amended))
  context.tell('timesheet_amended', timesheet)
  return true
}

function amendShift(context: ChangeContext, shift: Shift): Shift {
  const standard =
    shift.standard > 6 && chance(context.rng, 0.5) ? shift.standard - 0.5 : shift.standard + 0.5
  const more = standard - shift.standard
  const [first, ...others] = shift.allocations
  const allocations = first ? [{ ...first, hours: Math.max(0, first.hours + more) }, ...others] : []
  const allocated = allocations.reduce((sum, item) => sum + item.hours, 0)
  const fits = allocations.length === 0 || allocated === standard + shift.overtime
  return fits ? { ...shift, standard, allocations } : shift
}

/** Somebody's timesheet of the week after; where there is one already, a new assignment's of last week. */
export function writeTimesheet(context: ChangeContext): boolean {
  const recently = iso(context.nowMs - 3 * WEEK_MS)
  const isRecent = (record: StoredRecord) => isWhole(record) && String(record.weekEnding) > recently
  const found = context.find('timesheets', 'recent', isRecent) ?? context.find('timesheets', 'whole', isWhole)
  const model = found as Timesheet | undefined
  if (!model || model.timelogs.length === 0) return false
  const { timelogs, netHours: _, values: __, approvedBy: ___, approvedDate: ____, ...base } = model
  const { approvalRequestedBy: _____, ...kept } = base
  const { laterMs, assignment } = nextWeek(context, model)
  const later = (text: string) => iso(Date.parse(text) + laterMs)
  const fresh: TimesheetBase = {
    ...kept,
    assignment,
    id: objectId(context.rng, context.nowMs),
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
  const shifts = shiftsOf(timelogs).map(shift => ({ ...shift, dayMs: shift.dayMs + laterMs }))
  const record = timesheetRecord(fresh, shifts, 0) as unknown as StoredRecord
  context.create('timesheets', record)
  if (assignment.id !== model.assignment.id) tellOfAssignment(context, record, assignment.id)
  return true
}

function tellOfAssignment(context: ChangeContext, timesheet: StoredRecord, id: string): void {
  context.tell('assignment_created', timesheet, { id })
  context.tell('assignment_confirmed', timesheet, { id })
}

/** One timesheet an assignment and week, and none of a week that has not begun. */
function nextWeek(context: ChangeContext, model: Timesheet) {
  const startMs = Date.parse(model.start)
  const taken = takenWeeks(context.world)
  const next = `${model.assignment.id} ${iso(Date.parse(model.weekEnding) + WEEK_MS)}`
  const isRunning = runsUntil(context.world, model.assignment.id, iso(Date.parse(model.weekEnding) + WEEK_MS))
  if (isRunning && !taken.has(next) && startMs + WEEK_MS <= context.nowMs) {
    taken.add(next)
    return { laterMs: WEEK_MS, assignment: model.assignment }
  }
  const assignment = cloneAssignment(context, model.assignment)
  const laterMs = lastFullWeek(context.nowMs) - startMs
  taken.add(`${assignment.id} ${iso(Date.parse(model.weekEnding) + laterMs)}`)
  return { laterMs, assignment }
}

/** An assignment that the sandbox does not hold may run for ever. */
function runsUntil(world: World, id: string, weekEnding: string): boolean {
  const assignment = world.get('assignments', id)
  if (!assignment) return true
  return assignment.status === 'confirmed' && weekEnding <= String(assignment.endDate)
}

/** Assignment and week of every timesheet there ever was: read once, then kept by those who write them. */
const takenByWorld = new WeakMap<World, Set<string>>()

function takenWeeks(world: World): Set<string> {
  const known = takenByWorld.get(world)
  if (known) return known
  const weeks = world
    .all('timesheets')
    .map(row => `${(row.assignment as Ref | undefined)?.id} ${row.weekEnding}`)
  const taken = new Set(weeks)
  takenByWorld.set(world, taken)
  return taken
}

/** A few of the pending ones are deleted by whoever made them, if nothing was claimed with them. */
export function deleteTimesheet(context: ChangeContext): boolean {
  const timesheet = context.find('timesheets', 'pending', record => record.status === 'pending')
  if (!timesheet || isClaimedWith(context, timesheet)) return false
  context.remove('timesheets', timesheet)
  context.tell('timesheet_deleted', timesheet)
  return true
}

export function isClaimedWith(context: ChangeContext, timesheet: StoredRecord): boolean {
  return context.world
    .all('expenses')
    .some(expense => (expense.timesheet as { id: string } | undefined)?.id === timesheet.id)
}

/** The same timesheet with other base fields; its timelogs follow its status. */
export function withBase(timesheet: StoredRecord, changes: StoredRecord): StoredRecord {
  if (!isWhole(timesheet)) return { ...timesheet, ...changes }
  return rebuilt(timesheet, changes, shiftsOf((timesheet as unknown as Timesheet).timelogs))
}

export function rebuilt(
  timesheet: StoredRecord,
  changes: StoredRecord,
  shifts: readonly Shift[],
): StoredRecord {
  const { timelogs: _, netHours: __, values, ...base } = timesheet as unknown as Timesheet
  const record = timesheetRecord({ ...base, ...changes } as TimesheetBase, shifts, values.expense)
  return record as unknown as StoredRecord
}

export function drawTimesheet(context: ChangeContext, statuses: readonly string[]): StoredRecord | undefined {
  const status = pick(context.rng, statuses)
  return context.find('timesheets', status, record => record.status === status)
}
