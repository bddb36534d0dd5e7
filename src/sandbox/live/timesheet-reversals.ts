/** What undoes a timesheet: its approval taken back, the whole of it cancelled, its worker marked absent. */
import { objectId } from '../data/identity.ts'
import type { StoredRecord } from '../record.ts'
import type { ChangeContext } from './change-context.ts'
import { billedTimesheets } from './invoice-changes.ts'
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

/** By a credit note, of which the events give the id. */
export function cancelTimesheet(context: ChangeContext): boolean {
  const timesheet = findUnbilled(context)
  if (!timesheet) return false
  const creditNote = objectId(context.rng, context.nowMs)
  context.update('timesheets', withBase(timesheet, { status: 'cancelled', version: next(timesheet) }))
  context.tell('credit_note_created', timesheet, creditNote)
  context.tell('credit_note_processed', timesheet, creditNote)
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
