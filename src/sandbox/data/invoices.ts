/**
 * Generates invoices and credit notes. A weekly run bills an agency's approved timesheets, one invoice per company and week.
 * Credit notes are for timesheets cancelled after approval, and for corrections of invoices.
 */
import { dayMs, hourMs, startOfUtcDay, weekdayFrom, weekMs } from '../../lib/dates.ts'
import { groupBy } from '../../lib/group-by.ts'
import type { Seed } from './draw.ts'
import { defined, iso, linkOf, type RecordLink, type Ref, refOf } from './identity.ts'
import type { MasterData, RecordMaking } from './master/master-data.ts'
import { officeRoles } from './master/users.ts'
import { add } from './work/pay.ts'
import type { Timesheet, WrittenTimesheet } from './work/timesheets.ts'

type InvoiceLine = ReturnType<typeof lineOf>

interface InvoiceHead {
  readonly id: string
  readonly reference: string
  readonly company: Ref
  readonly agency: Ref
  readonly weekEnding: string
  readonly createdMs: number
  readonly cisRate: number
}

/** For a managed company the supplier bills the provider, and the provider bills the company. */
export const managedSides = [
  { invoiceType: 'supplierToMsp', mspInvoiceType: 'payable' },
  { invoiceType: 'mspToClient', mspInvoiceType: 'receivable' },
] as const

const vatPercent = 20
const creditDays = 30

/** subtotal + vat = total; total - cis = finalTotal; subtotal + expenses - creditNotes = netValue. */
function invoiceValues(lines: readonly InvoiceLine[], cisRate: number) {
  const sum = (name: 'netHours' | 'grossHours' | 'charge' | 'expense') =>
    lines.reduce((total, line) => add(total, line[name]), 0)
  const subtotal = sum('charge')
  const vat = percent(subtotal, vatPercent)
  const total = add(subtotal, vat)
  const cis = percent(subtotal, cisRate)
  const expenses = sum('expense')
  return {
    grossHours: sum('grossHours'),
    netHours: sum('netHours'),
    subtotal,
    vat,
    total,
    cis,
    cisRate,
    vatRate: vatPercent,
    finalTotal: add(total, -cis),
    expenses,
    creditNotes: 0,
    netValue: add(subtotal, expenses),
  }
}

function percent(amount: number, rate: number): number {
  return Math.round((Math.round(amount * 100) * rate) / 100) / 100
}

export function invoiceRecord(head: InvoiceHead, lines: readonly InvoiceLine[]) {
  const projects = new Map(lines.map(line => [line.project.id, line.project]))
  return {
    id: head.id,
    reference: head.reference,
    status: 'pending' as 'pending' | 'confirmed',
    invoiceType: 'supplierToClient',
    mspInvoiceType: null as string | null,
    company: head.company,
    agency: head.agency,
    projects: [...projects.values()],
    timesheets: lines.map(linkOf),
    weekEnding: head.weekEnding,
    due: iso(startOfUtcDay(head.createdMs, creditDays)),
    confirmedDate: null as string | null,
    values: invoiceValues(lines, head.cisRate),
    files: {
      invoice: `https://files.example.com/invoices/${head.id}.pdf`,
      timesheetSnapshot: `https://files.example.com/snapshots/${head.id}.pdf`,
    },
    createdAt: iso(head.createdMs),
    updatedAt: iso(head.createdMs),
  }
}

export function paymentOf(paid: string, atMs: number) {
  return { reference: `BACS ${paid}`, paymentDate: iso(startOfUtcDay(atMs)) }
}

export type Invoice = ReturnType<typeof invoiceRecord> & Record<string, unknown>

/** The figures that an invoice takes from one timesheet. */
export function lineOf({ timesheet, breakHours }: Pick<WrittenTimesheet, 'timesheet' | 'breakHours'>) {
  return {
    id: timesheet.id,
    reference: timesheet.reference,
    project: timesheet.project,
    netHours: timesheet.netHours,
    grossHours: timesheet.netHours + breakHours,
    charge: timesheet.values.charge.total,
    expense: timesheet.values.expense,
  }
}

const thursday = 3

/** The first Thursday, six in the morning, after the approval. */
function runOf({ approvedDate = '' }: Timesheet): number {
  const run = weekdayFrom(approvedDate, thursday) + 6 * hourMs
  return run > Date.parse(approvedDate) ? run : run + weekMs
}

/** An invoice with its lines. */
export interface BilledInvoice {
  readonly invoice: Invoice
  readonly lines: readonly InvoiceLine[]
}

/** For a managed company both invoices bill the same timesheets. */
export function makeInvoices(master: MasterData, written: readonly WrittenTimesheet[]): BilledInvoice[] {
  const making = master.making('invoices')
  const { seed, draw } = making
  const msp = { id: draw.id(seed.firstWeekMs), name: 'Openfield Managed Services' }
  const inStatus = (status: string) => written.filter(({ timesheet }) => timesheet.status === status)
  // Cancelled timesheets come last, so that they do not change the order of the other runs.
  const billable = [...inStatus('approved'), ...inStatus('cancelled')].filter(item => isBilled(seed, item))
  const runs = groupBy(billable, ({ timesheet }) => {
    const { agency, company, weekEnding } = timesheet
    return `${runOf(timesheet)} ${agency.id} ${company.id} ${weekEnding}`
  })
  return [...runs.values()].flatMap(group => {
    const [first] = group as [WrittenTimesheet]
    const lines = group.map(lineOf)
    if (master.company(first.timesheet.company.id).config.mspConfig.enabled) {
      const draft = () => draftOf(making, first, lines)
      return managedSides.map(side => ({ invoice: confirmed(making, { ...draft(), ...side, msp }), lines }))
    }
    return [{ invoice: confirmed(making, draftOf(making, first, lines)), lines }, ...adHoc(making, first)]
  })
}

/** The run after the approval bills it, unless it was cancelled before. */
function isBilled({ endMs }: Seed, { timesheet }: WrittenTimesheet): boolean {
  const billedMs = runOf(timesheet) + hourMs
  if (billedMs >= endMs) return false
  return timesheet.status !== 'cancelled' || Date.parse(timesheet.updatedAt) >= billedMs
}

function draftOf({ draw }: RecordMaking, item: WrittenTimesheet, lines: readonly InvoiceLine[]): Invoice {
  const { timesheet, placement } = item
  const { company, agency, weekEnding } = timesheet
  const createdMs = runOf(timesheet) + Math.floor(draw.fraction() * hourMs)
  const identity = { id: draw.id(createdMs), reference: draw.reference('INV') }
  const { cisRate } = placement.agency
  return invoiceRecord({ ...identity, company, agency, weekEnding, createdMs, cisRate }, lines)
}

/** An invoice written by hand, without timesheets. */
function adHoc(making: RecordMaking, first: WrittenTimesheet): BilledInvoice[] {
  const { draw } = making
  if (!draw.chance(0.01)) return []
  const charge = draw.between(50, 900)
  const line = { ...lineOf(first), netHours: 0, grossHours: 0, expense: 0, charge }
  const invoice = confirmed(making, {
    ...draftOf(making, first, [line]),
    timesheets: [],
    reason: draw.pick(['Training recharge', 'Equipment hire', 'Rate correction']),
    comments: 'Agreed with the project',
    vatToBeApplied: true,
  })
  return [{ invoice, lines: [] }]
}

function confirmed({ seed, draw, master }: RecordMaking, invoice: Invoice): Invoice {
  const confirmedMs =
    Date.parse(invoice.createdAt) + draw.between(1, 30) * dayMs + Math.floor(draw.fraction() * 9 * hourMs)
  if (confirmedMs >= seed.endMs || draw.chance(0.02)) return invoice
  const by = master.users.find(
    ({ role, companies }) => role === 'companyFinance' && companies.includes(invoice.company.id),
  )
  return {
    ...invoice,
    status: 'confirmed',
    confirmedDate: iso(confirmedMs),
    ...(by && { confirmedBy: refOf(by) }),
    payment: paymentOf(invoice.reference, confirmedMs),
    updatedAt: iso(confirmedMs),
  }
}

export type CreditNote = ReturnType<typeof creditNote>

const corrected = 0.012
const corrections = ['Rate correction', 'Hours agreed down', 'Damage recharged'] as const

/** A credited amount: the line of a cancelled timesheet, or part of an invoice. */
interface Credit {
  readonly line: InvoiceLine
  readonly createdMs: number
  /** Percent. */
  readonly cisRate: number
  readonly reason: string
  readonly invoice?: Invoice | undefined
  readonly timesheet?: Timesheet
}

/** A new credit note, without its status. */
export function creditNoteRecord(head: Credit & RecordLink) {
  const { id, line, invoice, timesheet } = head
  const { company, agency, weekEnding } = (invoice ?? timesheet) as Invoice | Timesheet
  const lines = [{ ...line, expense: 0 }]
  const { expenses: _, creditNotes: __, netValue: ___, ...values } = invoiceValues(lines, head.cisRate)
  return defined({
    id,
    reference: head.reference,
    creditNoteType: invoice?.invoiceType ?? 'supplierToClient',
    mspCreditNoteType: invoice?.mspInvoiceType ?? null,
    reason: head.reason,
    comments: timesheet ? 'Raised when the timesheet was cancelled' : 'Agreed with the supplier',
    company,
    agency: refOf(agency),
    msp: invoice?.msp as Ref | undefined,
    project: line.project,
    invoice: invoice && linkOf(invoice),
    timesheet: timesheet && linkOf(line),
    weekEnding,
    vatToBeApplied: timesheet === undefined,
    values,
    files: { creditNote: `https://files.example.com/credit-notes/${id}.pdf` },
    createdAt: iso(head.createdMs),
  })
}

/** Makes credit notes, and adds to each invoice the sum of its notes. */
export function makeCreditNotes(
  master: MasterData,
  written: readonly WrittenTimesheet[],
  billed: readonly BilledInvoice[],
): CreditNote[] {
  const making = master.making('credit notes')
  const lines = billed.flatMap(item => item.lines.map(({ id }) => ({ id, invoice: item.invoice })))
  const onInvoice = groupBy(lines, ({ id }) => id)
  const cancelled = written.filter(({ timesheet }) => timesheet.status === 'cancelled')
  const ofTimesheets = cancelled.flatMap(item => {
    const { timesheet, placement } = item
    const createdMs = Date.parse(timesheet.updatedAt)
    const { cisRate } = placement.agency
    const credit = { line: lineOf(item), timesheet, cisRate, reason: 'Timesheet cancelled', createdMs }
    return (onInvoice.get(timesheet.id) ?? [undefined]).map(on => ({ ...credit, invoice: on?.invoice }))
  })
  const ofInvoices = billed.flatMap(item => correction(making, item))
  return [...ofTimesheets, ...ofInvoices].map(credit => creditNote(making, credit))
}

/** Half an hour to three hours of one line. */
function correction({ draw }: RecordMaking, { invoice, lines }: BilledInvoice): Credit[] {
  const [line] = lines
  if (!line || line.netHours < 8 || !draw.chance(corrected)) return []
  const fromMs = Date.parse(invoice.createdAt)
  const createdMs = draw.time(fromMs, fromMs + draw.between(1, 40) * dayMs)
  const charge = Math.round((line.charge / line.netHours) * draw.between(1, 6) * 50) / 100
  const part = { ...line, netHours: 0, grossHours: 0, expense: 0, charge }
  const { cisRate } = invoice.values
  return [{ line: part, createdMs, cisRate, reason: draw.pick(corrections), invoice }]
}

function creditNote(making: RecordMaking, credit: Credit) {
  const { createdMs, invoice } = credit
  const { draw } = making
  const identity = { id: draw.id(createdMs), reference: draw.reference('CN') }
  const record = creditNoteRecord({ ...credit, ...identity })
  if (invoice) addCredit(invoice, record.values.subtotal, createdMs)
  return defined({ ...record, ...processing(making, record, createdMs) })
}

/** Processed within three days; still pending if that is after the end of the data. */
function processing(
  { seed, master, draw }: RecordMaking,
  note: RecordLink & { company: Ref },
  createdMs: number,
) {
  const processedMs = createdMs + draw.between(1, 72) * hourMs
  const confirmedBy = master.staff.drawRef(draw, note.company.id, officeRoles)
  if (processedMs >= seed.endMs) return { status: 'pending', confirmedDate: null, updatedAt: iso(createdMs) }
  const isPaid = processedMs + 7 * dayMs < seed.endMs && draw.chance(0.8)
  const paidMs = startOfUtcDay(processedMs, 7)
  return {
    status: 'processed',
    confirmedDate: iso(processedMs),
    confirmedBy,
    payment: isPaid ? paymentOf(note.reference, paidMs) : undefined,
    updatedAt: iso(isPaid ? Math.max(paidMs, processedMs) : processedMs),
  }
}

function addCredit(invoice: Invoice, subtotal: number, atMs: number): void {
  const { values } = invoice
  values.creditNotes = add(values.creditNotes, subtotal)
  values.netValue = add(values.netValue, -subtotal)
  if (iso(atMs) > invoice.updatedAt) invoice.updatedAt = iso(atMs)
}
