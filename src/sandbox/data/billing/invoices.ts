/** Invoices: a weekly run bills an agency's approved timesheets, one invoice per company and week. */
import { dayMs, hourMs, startOfUtcDay, weekday, weekMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { groupBy } from '../group-by.ts'
import { iso, linkOf, type Ref, reference, refOf } from '../identity.ts'
import type { MasterData } from '../master/master-data.ts'
import type { Seed } from '../seed.ts'
import { add } from '../work/pay.ts'
import type { Timesheet, WrittenTimesheet } from '../work/timesheets.ts'

/** The figures that an invoice takes from one timesheet. */
export interface InvoiceLine {
  readonly id: string
  readonly reference: string
  readonly project: Ref
  readonly netHours: number
  readonly grossHours: number
  readonly charge: number
  readonly expense: number
}

export interface InvoiceHead {
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
export function invoiceValues(lines: readonly InvoiceLine[], cisRate: number) {
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

export function lineOf({
  timesheet,
  breakHours,
}: Pick<WrittenTimesheet, 'timesheet' | 'breakHours'>): InvoiceLine {
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

/** The first Thursday, six in the morning, after the approval. */
function runOf({ approvedDate }: Timesheet): number {
  const approvedMs = Date.parse(approvedDate as string)
  const day = startOfUtcDay(approvedMs)
  const run = day + ((3 - weekday(day) + 7) % 7) * dayMs + 6 * hourMs
  return run > approvedMs ? run : run + weekMs
}

/** An invoice with its lines. */
export interface Billed {
  readonly invoice: Invoice
  readonly lines: readonly InvoiceLine[]
}

export class InvoiceWriter {
  readonly #endMs: number
  readonly #master: MasterData
  readonly #draw: Draw
  readonly #msp: Ref
  #written = 0

  constructor(seed: Seed, master: MasterData) {
    this.#endMs = seed.endMs
    this.#master = master
    this.#draw = seed.draw('invoices')
    this.#msp = { id: this.#draw.id(seed.firstWeekMs), name: 'Openfield Managed Services' }
  }

  /** For a managed company both invoices bill the same timesheets. */
  write(written: readonly WrittenTimesheet[]): Billed[] {
    const inStatus = (status: string) => written.filter(({ timesheet }) => timesheet.status === status)
    // Cancelled timesheets come last, so that they do not change the order of the other runs.
    const billable = [...inStatus('approved'), ...inStatus('cancelled')].filter(item => this.#isBilled(item))
    const runs = groupBy(billable, ({ timesheet }) => {
      const { agency, company, weekEnding } = timesheet
      return `${runOf(timesheet)} ${agency.id} ${company.id} ${weekEnding}`
    })
    return [...runs.values()].flatMap(group => this.#bill(group))
  }

  /** The run after the approval bills it, unless it was cancelled before. */
  #isBilled({ timesheet }: WrittenTimesheet): boolean {
    const billedMs = runOf(timesheet) + hourMs
    if (billedMs >= this.#endMs) return false
    return timesheet.status !== 'cancelled' || Date.parse(timesheet.updatedAt) >= billedMs
  }

  #bill(group: readonly WrittenTimesheet[]): Billed[] {
    const first = group[0] as WrittenTimesheet
    const runMs = runOf(first.timesheet)
    const lines = group.map(lineOf)
    const company = this.#master.company(first.timesheet.company.id)
    if (!company.config.mspConfig.enabled) {
      const invoice = this.#confirmed(this.#draft(runMs, first, lines))
      return [{ invoice, lines }, ...this.#adHoc(runMs, first)]
    }
    return managedSides.map(side => ({
      invoice: this.#confirmed({ ...this.#draft(runMs, first, lines), ...side, msp: this.#msp }),
      lines,
    }))
  }

  #draft(runMs: number, { timesheet, placement }: WrittenTimesheet, lines: readonly InvoiceLine[]): Invoice {
    this.#written += 1
    const createdMs = runMs + Math.floor(this.#draw.fraction() * hourMs)
    return invoiceRecord(
      {
        id: this.#draw.id(createdMs),
        reference: reference('INV', this.#written),
        company: timesheet.company,
        agency: timesheet.agency,
        weekEnding: timesheet.weekEnding,
        createdMs,
        cisRate: placement.agency.cisRate,
      },
      lines,
    )
  }

  /** An invoice written by hand, without timesheets. */
  #adHoc(runMs: number, first: WrittenTimesheet) {
    if (!this.#draw.chance(0.01)) return []
    const charge = this.#draw.between(50, 900)
    const line = { ...lineOf(first), netHours: 0, grossHours: 0, expense: 0, charge }
    const ordinary = this.#draft(runMs, first, [line])
    const invoice = this.#confirmed({
      ...ordinary,
      timesheets: [],
      reason: this.#draw.pick(['Training recharge', 'Equipment hire', 'Rate correction']),
      comments: 'Agreed with the project',
      vatToBeApplied: true,
    })
    return [{ invoice, lines: [] }]
  }

  #confirmed(invoice: Invoice): Invoice {
    const draw = this.#draw
    const confirmedMs =
      Date.parse(invoice.createdAt) + draw.between(1, 30) * dayMs + Math.floor(draw.fraction() * 9 * hourMs)
    if (confirmedMs >= this.#endMs || draw.chance(0.02)) return invoice
    const by = this.#master.users.find(
      ({ role, companies }) => role === 'companyFinance' && companies.includes(invoice.company.id),
    )
    return {
      ...invoice,
      status: 'confirmed',
      confirmedDate: iso(confirmedMs),
      ...(by ? { confirmedBy: refOf(by) } : {}),
      payment: paymentOf(invoice.reference, confirmedMs),
      updatedAt: iso(confirmedMs),
    }
  }
}
