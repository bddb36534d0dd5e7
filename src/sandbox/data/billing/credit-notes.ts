/** Credit notes for timesheets cancelled after approval, and for corrections of invoices. */
import { dayMs, hourMs, startOfUtcDay } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { groupBy } from '../group-by.ts'
import { defined, iso, linkOf, type Ref, reference, refOf } from '../identity.ts'
import { officeRoles, type Staff } from '../master/staff.ts'
import type { Seed } from '../seed.ts'
import { add } from '../work/pay.ts'
import type { Timesheet, WrittenTimesheet } from '../work/timesheets.ts'
import { type Billed, type Invoice, type InvoiceLine, invoiceValues, lineOf, paymentOf } from './invoices.ts'

export type CreditNote = ReturnType<CreditNoteWriter['note']>

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

interface CreditNoteHead extends Credit {
  readonly id: string
  readonly reference: string
}

/** A new credit note, without its status. */
export function creditNoteRecord(head: CreditNoteHead) {
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

  /** Also adds the sum of its notes to each invoice. */
  write(cancelled: readonly WrittenTimesheet[], billed: readonly Billed[]): CreditNote[] {
    const lines = billed.flatMap(item => item.lines.map(({ id }) => ({ id, invoice: item.invoice })))
    const onInvoice = groupBy(lines, ({ id }) => id)
    const ofTimesheets = cancelled.flatMap(item => {
      const { timesheet, placement } = item
      const createdMs = Date.parse(timesheet.updatedAt)
      const { cisRate } = placement.agency
      const credit = { line: lineOf(item), timesheet, cisRate, reason: 'Timesheet cancelled', createdMs }
      return (onInvoice.get(timesheet.id) ?? [undefined]).map(on => ({ ...credit, invoice: on?.invoice }))
    })
    const ofInvoices = billed.flatMap(item => this.#correction(item))
    return [...ofTimesheets, ...ofInvoices].map(credit => this.note(credit))
  }

  /** Half an hour to three hours of one line. */
  #correction({ invoice, lines }: Billed): Credit[] {
    const draw = this.#draw
    const [line] = lines
    if (!line || line.netHours < 8 || !draw.chance(corrected)) return []
    const fromMs = Date.parse(invoice.createdAt)
    const createdMs = draw.time(fromMs, fromMs + draw.between(1, 40) * dayMs)
    const charge = Math.round((line.charge / line.netHours) * draw.between(1, 6) * 50) / 100
    const part = { ...line, netHours: 0, grossHours: 0, expense: 0, charge }
    const { cisRate } = invoice.values
    return [{ line: part, createdMs, cisRate, reason: draw.pick(corrections), invoice }]
  }

  note(credit: Credit) {
    const { createdMs, invoice } = credit
    this.#written += 1
    const id = this.#draw.id(createdMs)
    const record = creditNoteRecord({ ...credit, id, reference: reference('CN', this.#written) })
    if (invoice) credited(invoice, record.values.subtotal, createdMs)
    return defined({ ...record, ...this.#processing(record.company.id, createdMs, this.#written) })
  }

  /** Processed within three days; still pending if that is after the end of the data. */
  #processing(companyId: string, createdMs: number, number: number) {
    const draw = this.#draw
    const { endMs } = this.#seed
    const processedMs = createdMs + draw.between(1, 72) * hourMs
    const confirmedBy = this.#staff.drawRef(draw, companyId, officeRoles)
    if (processedMs >= endMs) return { status: 'pending', confirmedDate: null, updatedAt: iso(createdMs) }
    const isPaid = processedMs + 7 * dayMs < endMs && draw.chance(0.8)
    const paidMs = startOfUtcDay(processedMs, 7)
    return {
      status: 'processed',
      confirmedDate: iso(processedMs),
      confirmedBy,
      payment: isPaid ? paymentOf(reference('CN', number), paidMs) : undefined,
      updatedAt: iso(isPaid ? Math.max(paidMs, processedMs) : processedMs),
    }
  }
}

function credited(invoice: Invoice, subtotal: number, atMs: number): void {
  const { values } = invoice
  values.creditNotes = add(values.creditNotes, subtotal)
  values.netValue = add(values.netValue, -subtotal)
  if (iso(atMs) > invoice.updatedAt) invoice.updatedAt = iso(atMs)
}
