/** What undoes a timesheet: its approval taken back, the whole of it cancelled, its worker marked absent. */
import type { Timesheet } from '../data/work/timesheets.ts'
import type { StoredRecord } from '../records/record.ts'
import type { ChangeContext } from './change-context.ts'
import { creditTimesheet } from './credit-note-changes.ts'
import { billedTimesheets, breakHours } from './invoice-changes.ts'
import { isClaimedWith, isWhole, rebuilt, withBase } from './timesheet-changes.ts'

/** Approved and on no invoice: what is billed stays as it was billed. */
function findUnbilled(context: ChangeContext): StoredRecord | undefined {
  const billed = billedTimesheets(context)
  const isFree = (record: StoredRecord) => record.status === 'approved' && !billed.has(String(record.id))
  return context.find('timesheets', 'approved and free', isFree)
}

export function unapproveTimesheet(context: ChangeContext): boolean {
  const timesheet = findUnbilled(context)
  if (!timesheet) return false
  const {
    approvedBy: _,
    approvedDate: __,
    ...kept
  } = withBase(timesheet, {
    status: 'pending_approval',
    version: next(timesheet),
  })
  context.update('timesheets', kept)
  context.tell('timesheet_unapproved', timesheet)
  return true
}

/** With a credit note, whether it is on an invoice or not yet. */
export function cancelTimesheet(context: ChangeContext): boolean {
  const timesheet = context.find('timesheets', 'approved', record => record.status === 'approved')
  if (!timesheet) return false
  context.update('timesheets', withBase(timesheet, { status: 'cancelled', version: next(timesheet) }))
  if (isWhole(timesheet)) creditTimesheet(context, timesheet as unknown as Timesheet, breakHours(timesheet))
  context.tell('timesheet_cancelled', timesheet)
  return true
}

/** A week that was written up and not worked: without hours, and without claims. */
export function markAbsent(context: ChangeContext): boolean {
  const isPending = (record: StoredRecord) => record.status === 'pending' && isWhole(record)
  const timesheet = context.find('timesheets', 'pending and whole', isPending)
  if (!timesheet || isClaimedWith(context, timesheet)) return false
  const changes = { status: 'absent', version: next(timesheet), pieceRateEntries: [] }
  context.update('timesheets', rebuilt(timesheet, changes, []))
  context.tell('timesheet_marked_absent', timesheet)
  return true
}

function next(timesheet: StoredRecord): number {
  return Number(timesheet.version ?? 1) + 1
}
