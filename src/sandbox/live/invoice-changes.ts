/** Changes of invoices and credit notes: written for timesheets, confirmed, processed. */
import { creditNoteRecord } from '../data/billing/credit-notes.ts'
import {
  type Invoice,
  type InvoiceLine,
  invoiceRecord,
  lineOf,
  managedSides,
  paymentOf,
} from '../data/billing/invoices.ts'
import { type Ref, reference, refOf } from '../data/identity.ts'
import type { Company } from '../data/master/companies.ts'
import { add } from '../data/work/pay.ts'
import { isWhole, type Timesheet } from '../data/work/timesheets.ts'
import { pathReader, type StoredRecord } from '../records/record.ts'
import type { World } from '../world.ts'
import { type ChangeContext, perWorld } from './change-context.ts'
import { create, inStatus, update, where } from './transition.ts'

/** Further timesheets wait for the next invoice. */
const mostLines = 5

/** The ids of all billed timesheets, and the number of invoices they were read from. */
const billed = perWorld(() => ({ invoices: -1, ids: new Set<string>() }))

/** Reads the invoices again only if some were added elsewhere. */
export function billedTimesheets(world: World): Set<string> {
  const known = billed(world)
  const invoices = world.nextNumber('invoices')
  if (known.invoices !== invoices) {
    const lists = world.all('invoices').map(row => (row.timesheets ?? []) as readonly { id: string }[])
    Object.assign(known, { invoices, ids: new Set(lists.flat().map(timesheet => timesheet.id)) })
  }
  return known.ids
}

function isUnbilled({ status, id }: StoredRecord, { world }: ChangeContext): boolean {
  return status === 'approved' && !billedTimesheets(world).has(String(id))
}

/** Approved and on no invoice: a billed timesheet does not change. */
export const unbilled = where('timesheets', 'approved and free', isUnbilled)
const billable = where<Timesheet>(
  'timesheets',
  'billable',
  (record, context) => isUnbilled(record, context) && isWhole(record),
)

/** The first timesheet decides company, agency and week; up to four more of the same are billed with it. */
export const writeInvoice = create('invoices', {
  from: billable,
  make: (first, context) => {
    const lines = context
      .list(billable)
      .map(({ id }) => context.world.get('timesheets', String(id)))
      .filter(candidate => candidate !== undefined && billable.test(candidate, context))
      .map(candidate => candidate as Timesheet & StoredRecord)
      .filter(candidate => isBilledWith(candidate, first))
      .slice(0, mostLines)
      .map(timesheet => lineOf({ timesheet, breakHours: breakHours(timesheet) }))
    return invoicesOf(context, first, lines)
  },
  also: ({ world }, _, invoice) => {
    const known = billed(world)
    for (const { id } of (invoice as Invoice).timesheets) known.ids.add(id)
    known.invoices = world.nextNumber('invoices')
  },
  sends: 'invoice_created',
})

function invoicesOf(context: ChangeContext, first: Timesheet, lines: readonly InvoiceLine[]): object[] {
  const { world, draw, nowMs } = context
  const { company, agency, weekEnding } = first
  return sidesOf(context, company).map((side, index) => {
    const head = {
      ...{ company, agency, weekEnding, createdMs: nowMs, cisRate: 0 },
      id: draw.id(nowMs),
      reference: reference('INV', world.nextNumber('invoices') + index),
    }
    return { ...invoiceRecord(head, lines), ...side }
  })
}

const provider = pathReader('config.mspConfig')
const fromProvider = where('invoices', 'of a provider', ({ msp }) => msp !== undefined)

/** The provider of earlier invoices, or a new one with the name in the company's configuration. */
function sidesOf(context: ChangeContext, { id }: Ref): readonly StoredRecord[] {
  const config = provider(context.world.get('companies', id)) as Company['config']['mspConfig'] | undefined
  if (!config?.enabled) return [{}]
  const earlier = fromProvider(context)
  const msp = earlier?.msp ?? { id: context.draw.id(context.nowMs), name: config.msps[0] }
  return managedSides.map(side => ({ ...side, msp }))
}

function isBilledWith(candidate: Timesheet, first: Timesheet): boolean {
  return (
    candidate.weekEnding === first.weekEnding &&
    candidate.agency.id === first.agency.id &&
    candidate.company.id === first.company.id
  )
}

function breakHours(timesheet: Timesheet): number {
  return timesheet.timelogs.reduce((sum, log) => sum + log.breaks / 60, 0)
}

const finance = where<Ref>('users', 'finance', user => user.role === 'companyFinance')

function confirmation(context: ChangeContext) {
  const user = finance(context)
  return { confirmedDate: context.now, ...(user && { confirmedBy: refOf(user) }) }
}

export const processCreditNote = update('creditNotes', {
  from: inStatus('creditNotes', 'pending'),
  to: 'processed',
  make: (note, context) => ({ ...note, ...confirmation(context) }),
  sends: 'credit_note_processed',
})

export const confirmInvoice = update('invoices', {
  from: inStatus('invoices', 'pending'),
  to: 'confirmed',
  make: (invoice, context) => {
    const payment = paymentOf(String(invoice.reference), context.nowMs)
    return { ...invoice, ...confirmation(context), payment }
  },
  sends: 'invoice_paid',
})

/** One credit note for each invoice that bills the timesheet, or one if none does. Changes the invoices' sums. */
export function creditTimesheet(context: ChangeContext, before: StoredRecord): void {
  if (!isWhole(before)) return
  const timesheet = before as StoredRecord & Timesheet
  const isOn = ({ timesheets }: Invoice) => timesheets?.some(({ id }) => id === timesheet.id)
  const invoices = (context.world.all('invoices') as Invoice[]).filter(isOn)
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
