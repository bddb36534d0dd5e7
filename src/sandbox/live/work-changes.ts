/** Changes timesheets, the expenses claimed with them, invoices and credit notes. */
import { dayMs, weekMs } from '../../lib/dates.ts'
import { lastFullWeek } from '../data/calendar.ts'
import { defined, iso, linkOf, type RecordLink, type Ref, reference, refOf } from '../data/identity.ts'
import {
  type CreditNote,
  creditNoteRecord,
  type Invoice,
  invoiceRecord,
  lineOf,
  managedSides,
  paymentOf,
} from '../data/invoices.ts'
import type { Company } from '../data/master/companies.ts'
import { drawClaim, type Expense, expenseDetails } from '../data/work/expenses.ts'
import { add, shiftsOf, type WorkedShift } from '../data/work/pay.ts'
import { type Timesheet, type TimesheetBase, timesheetRecord } from '../data/work/timesheets.ts'
import type { StoredRecord } from '../record.ts'
import type { World } from '../world.ts'
import { type ChangeContext, perWorld, type RecordFinder, where } from './change.ts'
import { newAssignment, newLink } from './hiring-changes.ts'

/** Limits a finder to timesheets without claimed expenses. */
export const unclaimed =
  (find: RecordFinder<Timesheet>): RecordFinder<Timesheet> =>
  context => {
    const sheet = find(context)
    const isClaimed = sheet && context.all('expenses').some(({ timesheet }) => timesheet?.id === sheet.id)
    return isClaimed ? undefined : sheet
  }

/** The next version, with the timelogs and sums that follow from its status and shifts. */
export function revised(timesheet: Timesheet, changes: object, shifts?: readonly WorkedShift[]): Timesheet {
  const { timelogs, netHours, values, ...base } = timesheet
  const after: TimesheetBase = { ...base, version: base.version + 1, ...changes }
  return timesheetRecord(after, shifts ?? shiftsOf(timelogs), values.expense)
}

/** Hands in a pending timesheet, or approves one that was handed in. A few are returned, without an event. */
export function advanced(timesheet: Timesheet, { draw, now }: ChangeContext): Timesheet {
  const { status, agency, timesheetApprovers } = timesheet
  if (status === 'pending') {
    const approvalRequestedBy = { ...agency, type: 'supplier' }
    return revised(timesheet, { status: 'pending_approval', approvalRequestedBy })
  }
  if (draw.chance(0.04)) return revised(timesheet, { status: 'pending' })
  const [approvedBy] = timesheetApprovers
  return revised(timesheet, { status: 'approved', approvedDate: now, ...(approvedBy && { approvedBy }) })
}

export function unapproved(timesheet: Timesheet): object {
  const { approvedBy, approvedDate, ...others } = revised(timesheet, { status: 'pending_approval' })
  return others
}

/** Other hours on one day. */
export function amended(timesheet: Timesheet, { draw }: ChangeContext): Timesheet | undefined {
  const shifts = shiftsOf(timesheet.timelogs)
  if (shifts.length === 0) return undefined
  const changed = draw.between(0, shifts.length - 1)
  const amend = (shift: WorkedShift) => amendedShift(shift, () => draw.chance(0.5))
  return revised(
    timesheet,
    {},
    shifts.map((shift, index) => (index === changed ? amend(shift) : shift)),
  )
}

function amendedShift(shift: WorkedShift, isShorter: () => boolean): WorkedShift {
  const more = shift.standard > 6 && isShorter() ? -0.5 : 0.5
  const standard = shift.standard + more
  const [first, ...others] = shift.allocations
  const allocations = first ? [{ ...first, hours: Math.max(0, first.hours + more) }, ...others] : []
  const allocated = allocations.reduce((sum, item) => sum + item.hours, 0)
  const fits = allocations.length === 0 || allocated === standard + shift.overtime
  return fits ? { ...shift, standard, allocations } : shift
}

/** The next week of an assignment; if that has a timesheet already, last week of a cloned assignment. */
export function nextTimesheet(model: Timesheet, context: ChangeContext): Timesheet | undefined {
  const { timelogs, netHours, values, approvedBy, approvedDate, approvalRequestedBy, ...others } = model
  if (timelogs.length === 0) return undefined
  const { laterMs, assignment } = nextWeek(context, model)
  const later = (text: string) => iso(Date.parse(text) + laterMs)
  const base: TimesheetBase = {
    ...others,
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

/** Company and agency come from the timesheet: the assignment it was cloned from may be deleted. */
export function sendNewAssignment(context: ChangeContext, model: Timesheet, written: StoredRecord): void {
  const { id } = written.assignment as RecordLink
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
  if (runsUntil(context, assignment, weekEnding) && !taken.has(next) && startMs + weekMs <= nowMs) {
    taken.add(next)
    return { laterMs: weekMs, assignment }
  }
  const clone = cloneAssignment(context, assignment)
  const laterMs = lastFullWeek(nowMs) - startMs
  taken.add(`${clone.id} ${iso(Date.parse(model.weekEnding) + laterMs)}`)
  return { laterMs, assignment: clone }
}

/** A deleted assignment never ends. */
function runsUntil(context: ChangeContext, { id }: RecordLink, weekEnding: string): boolean {
  const assignment = context.get('assignments', id)
  return !assignment || (assignment.status === 'confirmed' && weekEnding <= assignment.endDate)
}

/** Assignment and week of every timesheet there ever was: read once, then updated by `nextWeek`. */
const takenWeeks = perWorld(
  world =>
    new Set(
      world
        .all('timesheets')
        .map(row => `${(row.assignment as RecordLink | undefined)?.id} ${row.weekEnding}`),
    ),
)

const cloneWeeks = 4

/** The clone begins last week and belongs to no requisition. */
function cloneAssignment(context: ChangeContext, original: RecordLink): RecordLink {
  const { now, nowMs } = context
  const link = newLink(context)
  const start = lastFullWeek(nowMs)
  const model = context.get('assignments', original.id)
  if (!model) return link
  const clone = newAssignment(context, model, {
    ...link,
    status: 'confirmed',
    startDate: iso(start),
    timesheetStartDate: iso(start),
    endDate: iso(start + cloneWeeks * weekMs - dayMs),
    confirmationDate: now,
    clone: { date: now, original },
  })
  context.create('assignments', clone)
  return link
}

/** A claim with a timesheet that is neither cancelled nor absent. */
export function claimed(timesheet: Timesheet, { draw, now, nowMs }: ChangeContext): object {
  const claim = drawClaim(draw)
  const { worker, company, project, agency } = timesheet
  return defined({
    id: draw.id(nowMs),
    status: 'pending',
    category: claim.category,
    description: claim.description,
    ...expenseDetails(draw, claim, nowMs),
    worker: { id: worker.id, reference: timesheet.workerReference, name: worker.name },
    timesheet: linkOf(timesheet),
    ...{ company, project, agency, createdBy: agency },
    createdAt: now,
    updatedAt: now,
  })
}

export function amendedExpense(expense: Expense, { draw }: ChangeContext): object {
  const value = add(expense.value, draw.between(1, 20))
  return { ...expense, value, rate: { ...expense.rate, value: add(value / (expense.hours ?? 1), 0) } }
}

/** Once its timesheet is on an invoice an expense can only be rejected. */
export function decided(expense: Expense, context: ChangeContext): object {
  const id = expense.timesheet?.id ?? ''
  const isBilled = billedTimesheets(context.world).has(id)
  const status = !isBilled && !context.draw.chance(0.1) ? 'approved' : 'rejected'
  const [approvedBy] = context.get('timesheets', id)?.timesheetApprovers ?? []
  return { ...expense, status, approvalDate: context.now, ...(approvedBy && { approvedBy }) }
}

/** An approved expense changes its timesheet too. */
export function addToTimesheet(
  context: ChangeContext,
  { timesheet: link, value }: Expense,
  after: StoredRecord,
): void {
  const timesheet = context.get('timesheets', link?.id ?? '')
  if (after.status !== 'approved' || !timesheet) return
  const { values, version } = timesheet
  const expense = add(values.expense, value)
  context.update('timesheets', { ...timesheet, version: version + 1, values: { ...values, expense } })
}

/** Further timesheets wait for the next invoice. */
const maxLines = 5

/** The ids of all billed timesheets, and the number of invoices they were read from. */
const billed = perWorld(() => ({ invoices: -1, ids: new Set<string>() }))

/** Reads the invoices again only if some were added elsewhere. */
function billedTimesheets(world: World): Set<string> {
  const known = billed(world)
  const invoices = world.nextNumber('invoices')
  if (known.invoices !== invoices) {
    const lists = world.all('invoices').map(row => (row.timesheets ?? []) as readonly { id: string }[])
    Object.assign(known, { invoices, ids: new Set(lists.flat().map(timesheet => timesheet.id)) })
  }
  return known.ids
}

export function noteBilled({ world }: ChangeContext, _: Timesheet, invoice: StoredRecord): void {
  const known = billed(world)
  for (const { id } of invoice.timesheets as Invoice['timesheets']) known.ids.add(id)
  known.invoices = world.nextNumber('invoices')
}

const isUnbilled = ({ status, id }: Timesheet, { world }: ChangeContext) =>
  status === 'approved' && !billedTimesheets(world).has(id)

/** Approved and on no invoice: a billed timesheet does not change. */
export const unbilled = where('timesheets', 'unbilled', isUnbilled)
export const billable = where('timesheets', 'billable', isUnbilled)

/** The first timesheet decides company, agency and week; up to four more of the same are billed with it. */
export function invoicesOf(first: Timesheet, context: ChangeContext): object[] {
  const { world, draw, nowMs } = context
  const { company, agency, weekEnding } = first
  const lines = context
    .list(billable)
    .flatMap(({ id }) => context.get('timesheets', id) ?? [])
    .filter(candidate => isUnbilled(candidate, context) && isBilledWith(candidate, first))
    .slice(0, maxLines)
    .map(timesheet => lineOf({ timesheet, breakHours: breakHours(timesheet) }))
  return sidesOf(context, company).map((side, index) => {
    const head = {
      ...{ company, agency, weekEnding, createdMs: nowMs, cisRate: 0 },
      id: draw.id(nowMs),
      reference: reference('INV', world.nextNumber('invoices') + index),
    }
    return { ...invoiceRecord(head, lines), ...side }
  })
}

const fromProvider = where('invoices', 'of a provider', ({ msp }) => msp !== undefined)

/** The provider of earlier invoices, or a new one with the name in the company's configuration. */
function sidesOf(context: ChangeContext, { id }: Ref): readonly object[] {
  const company = context.world.get('companies', id) as Company | undefined
  const { enabled, msps } = company?.config.mspConfig ?? {}
  if (!enabled) return [{}]
  const msp = fromProvider(context)?.msp ?? { id: context.draw.id(context.nowMs), name: msps?.[0] }
  return managedSides.map(side => ({ ...side, msp }))
}

const isBilledWith = (candidate: Timesheet, first: Timesheet): boolean =>
  candidate.weekEnding === first.weekEnding &&
  candidate.agency.id === first.agency.id &&
  candidate.company.id === first.company.id

const breakHours = ({ timelogs }: Timesheet): number =>
  timelogs.reduce((sum, log) => sum + log.breaks / 60, 0)

const finance = where('users', 'finance', user => user.role === 'companyFinance')

function confirmation(context: ChangeContext) {
  const user = finance(context)
  return { confirmedDate: context.now, ...(user && { confirmedBy: refOf(user) }) }
}

export const processed = (note: CreditNote, context: ChangeContext) => ({ ...note, ...confirmation(context) })

export function confirmed(invoice: Invoice, context: ChangeContext): object {
  const payment = paymentOf(invoice.reference, context.nowMs)
  return { ...invoice, ...confirmation(context), payment }
}

/** One credit note for each invoice that bills the timesheet, or one if none does. Changes the invoices' sums. */
export function creditTimesheet(context: ChangeContext, timesheet: Timesheet): void {
  const invoices = context
    .all('invoices')
    .filter(({ timesheets }) => timesheets.some(({ id }) => id === timesheet.id))
  for (const invoice of invoices.length > 0 ? invoices : [undefined]) {
    const note = creditNote(context, timesheet, invoice)
    if (invoice) creditInvoice(context, invoice, note.values.subtotal)
    context.create('creditNotes', note)
    context.send('credit_note_created', note)
  }
}

function creditNote({ world, draw, now, nowMs }: ChangeContext, timesheet: Timesheet, invoice?: Invoice) {
  const record = creditNoteRecord({
    id: draw.id(nowMs),
    reference: reference('CN', world.nextNumber('creditNotes')),
    createdMs: nowMs,
    cisRate: invoice?.values.cisRate ?? 0,
    reason: 'Timesheet cancelled',
    line: lineOf({ timesheet, breakHours: breakHours(timesheet) }),
    invoice,
    timesheet,
  })
  return { ...record, status: 'pending', confirmedDate: null, updatedAt: now }
}

function creditInvoice(context: ChangeContext, invoice: Invoice, subtotal: number): void {
  const { values } = invoice
  const creditNotes = add(values.creditNotes, subtotal)
  const netValue = add(values.netValue, -subtotal)
  context.update('invoices', { ...invoice, values: { ...values, creditNotes, netValue } })
}
