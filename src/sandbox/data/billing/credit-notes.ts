/** Credit notes: for timesheets cancelled after approval, and corrections of invoices. */
import { dayMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { groupBy } from '../group-by.ts'
import { iso, type Ref, reference, refOf } from '../identity.ts'
import { officeRoles, type Staff } from '../master/staff.ts'
import type { Seed } from '../seed.ts'
import { add } from '../work/pay.ts'
import type { Timesheet, WrittenTimesheet } from '../work/timesheets.ts'
import { type Billed, type Invoice, type InvoiceLine, invoiceValues, lineOf } from './invoices.ts'

export type CreditNote = ReturnType<CreditNoteWriter['note']>

const corrected = 0.012
const corrections = ['Rate correction', 'Hours agreed down', 'Damage recharged'] as const

/** What is credited: a cancelled timesheet's line, or part of an invoice. */
interface Credit {
  readonly line: InvoiceLine
  readonly createdMs: number
  readonly reason: string
  readonly invoice?: Invoice
  readonly timesheet?: WrittenTimesheet
}

interface CreditNoteHead {
  readonly id: string
  readonly reference: string
  readonly createdMs: number
  /** Percent. */
  readonly cisRate: number
  readonly reason: string
  readonly line: InvoiceLine
  readonly owner: Pick<Timesheet, 'company' | 'agency' | 'weekEnding'>
  readonly invoice?: Invoice | undefined
  readonly timesheet?: Pick<Timesheet, 'id' | 'reference'> | undefined
}

/** All but what became of it. */
export function creditNoteRecord(head: CreditNoteHead) {
  const { id, line, owner, invoice, timesheet } = head
  const lines = [{ ...line, expense: 0 }]
  const { expenses: _, creditNotes: __, netValue: ___, ...values } = invoiceValues(lines, head.cisRate)
  return {
    id,
    reference: head.reference,
    creditNoteType: invoice?.invoiceType ?? 'supplierToClient',
    mspCreditNoteType: invoice?.mspInvoiceType ?? null,
    reason: head.reason,
    comments: timesheet ? 'Raised when the timesheet was cancelled' : 'Agreed with the supplier',
    company: owner.company,
    agency: refOf(owner.agency),
    ...(invoice?.msp ? { msp: invoice.msp as Ref } : {}),
    project: line.project,
    ...(invoice ? { invoice: { id: invoice.id, reference: invoice.reference } } : {}),
    ...(timesheet ? { timesheet: { id: line.id, reference: line.reference } } : {}),
    weekEnding: owner.weekEnding,
    vatToBeApplied: timesheet === undefined,
    values,
    files: { creditNote: `https://files.example.com/credit-notes/${id}.pdf` },
    createdAt: iso(head.createdMs),
  }
}

export class CreditNoteWriter {
  readonly #seed: Seed
  readonly #draw: Draw
  readonly #staff: Staff
  #written = 0

  constructor(seed: Seed, staff: Staff) {
    this.#seed = seed
    this.#draw = seed.draw('credit notes')
    this.#staff = staff
  }

  /** Also puts the sums of its notes on each invoice. */
  write(cancelled: readonly WrittenTimesheet[], billed: readonly Billed[]): CreditNote[] {
    const lines = billed.flatMap(item => item.lines.map(({ id }) => ({ id, invoice: item.invoice })))
    const onInvoice = groupBy(lines, ({ id }) => id)
    const ofTimesheets = cancelled.flatMap(item => {
      const createdMs = Date.parse(item.timesheet.updatedAt)
      const credit = { line: lineOf(item), timesheet: item, reason: 'Timesheet cancelled', createdMs }
      const invoices = onInvoice.get(item.timesheet.id)
      return invoices ? invoices.map(({ invoice }) => ({ ...credit, invoice })) : [credit]
    })
    const ofInvoices = billed.flatMap(item => this.#correction(item))
    return [...ofTimesheets, ...ofInvoices].map(credit => this.note(credit))
  }

  /** Half of an hour's to three hours' worth of one line. */
  #correction({ invoice, lines }: Billed): Credit[] {
    const draw = this.#draw
    const [line] = lines
    if (!line || line.netHours < 8 || !draw.chance(corrected)) return []
    const fromMs = Date.parse(invoice.createdAt)
    const createdMs = draw.time(fromMs, fromMs + draw.between(1, 40) * dayMs)
    const charge = Math.round((line.charge / line.netHours) * draw.between(1, 6) * 50) / 100
    const part = { ...line, netHours: 0, grossHours: 0, expense: 0, charge }
    return [{ line: part, createdMs, reason: draw.pick(corrections), invoice }]
  }

  note({ line, createdMs, reason, invoice, timesheet }: Credit) {
    this.#written += 1
    const owner = invoice ?? (timesheet as WrittenTimesheet).timesheet
    const record = creditNoteRecord({
      id: this.#draw.id(createdMs),
      reference: reference('CN', this.#written),
      cisRate: invoice?.values.cisRate ?? (timesheet as WrittenTimesheet).placement.agency.cisRate,
      ...{ createdMs, reason, line, owner, invoice, timesheet: timesheet?.timesheet },
    })
    if (invoice) credited(invoice, record.values.subtotal, createdMs)
    return { ...record, ...this.#processing(owner.company.id, createdMs, this.#written) }
  }

  /** Processed some days later, if that is not after the end of the data. */
  #processing(companyId: string, createdMs: number, number: number) {
    const draw = this.#draw
    const seed = this.#seed
    const processedMs = createdMs + draw.between(1, 72) * (dayMs / 24)
    const confirmedBy = this.#staff.drawRef(draw, companyId, officeRoles)
    if (processedMs >= seed.endMs)
      return { status: 'pending', confirmedDate: null, updatedAt: iso(createdMs) }
    const paid = processedMs + 7 * dayMs < seed.endMs && draw.chance(0.8)
    const paidMs = Math.floor(processedMs / dayMs + 7) * dayMs
    const payment = { reference: `BACS ${reference('CN', number)}`, paymentDate: iso(paidMs) }
    return {
      status: 'processed',
      confirmedDate: iso(processedMs),
      ...(confirmedBy ? { confirmedBy } : {}),
      ...(paid ? { payment } : {}),
      updatedAt: iso(paid ? Math.max(paidMs, processedMs) : processedMs),
    }
  }
}

function credited(invoice: Invoice, subtotal: number, atMs: number): void {
  const { values } = invoice
  values.creditNotes = add(values.creditNotes, subtotal)
  values.netValue = add(values.netValue, -subtotal)
  if (iso(atMs) > invoice.updatedAt) invoice.updatedAt = iso(atMs)
}
