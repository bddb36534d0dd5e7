/** Many small records for scans: as little in each as keeps a resource honest about its children. */
import type { WorldRecords } from '../../src/sandbox/world.ts'

const minute = 60_000

export interface PlainOptions {
  /** Of the first record; the others follow `minutesApart`. */
  readonly start?: number
  readonly minutesApart?: number
}

/** Long ago: times ahead of the clock are no watermarks. */
const plainStart = Date.UTC(2025, 0, 5)

export const timeOf = (index: number, { start = plainStart, minutesApart = 20 }: PlainOptions = {}): string =>
  new Date(start + index * minutesApart * minute).toISOString()

const company = { id: 'c1', name: 'Company 1' }

function plainTimesheet(index: number, options?: PlainOptions) {
  const at = timeOf(index, options)
  return {
    id: `t${index}`,
    reference: `TS-${index}`,
    status: 'pending',
    version: 1,
    netHours: 7.5,
    worker: { id: `w${index % 7}`, name: `Worker ${index % 7}` },
    company,
    agency: { id: 'a1', name: 'Agency 1' },
    timelogs: [{ id: `t${index}-1`, breaks: 30, hours: { standard: 7.5, overtime: 0, total: 7.5 } }],
    createdAt: at,
    updatedAt: at,
  }
}

function plainExpense(index: number, options?: PlainOptions) {
  const at = timeOf(index, options)
  return {
    id: `e${index}`,
    status: 'pending',
    category: 'Fuel',
    value: 12.5,
    company,
    receipts: [{ fileName: `receipt ${index}.pdf`, created: at }],
    createdAt: at,
    updatedAt: at,
  }
}

function plainInvoice(index: number, options?: PlainOptions) {
  const at = timeOf(index, options)
  return {
    id: `i${index}`,
    reference: `INV-${index}`,
    status: 'pending',
    company,
    projects: [{ id: `p${index % 3}`, name: `Project ${index % 3}` }],
    values: { subtotal: 100, vat: 20, total: 120 },
    createdAt: at,
    updatedAt: at,
  }
}

export const plainMakers = {
  timesheets: plainTimesheet,
  expenses: plainExpense,
  invoices: plainInvoice,
} as const

export type PlainCollection = keyof typeof plainMakers

/** So many records of each of these collections, besides the company they name. */
export function plainRecords(
  counts: Partial<Record<PlainCollection, number>>,
  options?: PlainOptions,
): WorldRecords {
  const made = Object.entries(counts).map(([name, count]) => [
    name,
    Array.from({ length: count }, (_, index) => plainMakers[name as PlainCollection](index, options)),
  ])
  return {
    companies: [{ ...company, createdAt: timeOf(0), updatedAt: timeOf(0) }],
    ...Object.fromEntries(made),
  }
}
