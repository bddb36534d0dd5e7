/** Checks the identities of hours and money; returns the records that break one. */
import type { Body } from '../open-sandbox.ts'

interface Work {
  readonly timesheets: readonly Body[]
  readonly expenses: readonly Body[]
  readonly invoices: readonly Body[]
}

const cents = (amount: number) => Math.round(amount * 100)
const sum = <T>(rows: readonly T[], amountOf: (row: T) => number) =>
  rows.reduce((total, row) => total + amountOf(row), 0)

export function brokenSums({ timesheets, expenses, invoices }: Work): string[] {
  const byId = new Map(timesheets.map(row => [row.id, row]))
  return [
    ...timesheets.flatMap(row => broken(row.reference, timesheetSums(row, expenses))),
    ...invoices.flatMap(row => broken(row.reference, invoiceSums(row, byId))),
    ...expenses.flatMap(row =>
      broken(row.id, {
        timesheet: !row.timesheet || byId.get(row.timesheet.id)?.reference === row.timesheet.reference,
      }),
    ),
  ]
}

function broken(name: string, sums: Record<string, boolean>): string[] {
  return Object.entries(sums).flatMap(([identity, holds]) => (holds ? [] : [`${name}: ${identity}`]))
}

const claimedByList = new WeakMap<readonly Body[], Map<string, number>>()

function claimed(expenses: readonly Body[]): Map<string, number> {
  const known = claimedByList.get(expenses)
  if (known) return known
  const totals = new Map<string, number>()
  for (const row of expenses) {
    if (row.status !== 'approved' || !row.timesheet) continue
    totals.set(row.timesheet.id, (totals.get(row.timesheet.id) ?? 0) + cents(row.value))
  }
  claimedByList.set(expenses, totals)
  return totals
}

function timesheetSums(row: Body, expenses: readonly Body[]) {
  const { pay, charge, expense } = row.values
  const { timelogs, rates } = row
  const total = (side: Body) =>
    sum(Object.entries(side), ([name, value]) => (name === 'total' ? 0 : cents(value as number)))
  return {
    'netHours = timelogs': row.netHours === sum(timelogs, (log: Body) => log.hours.total),
    'pay total = buckets': cents(pay.total) === total(pay),
    'charge total = buckets': cents(charge.total) === total(charge),
    'pay total = timelogs': cents(pay.total) === sum(timelogs, (log: Body) => cents(log.values.pay.total)),
    'charge total = timelogs':
      cents(charge.total) === sum(timelogs, (log: Body) => cents(log.values.charge.total)),
    'rates: charge = pay + emp + margin': Object.values(rates as Record<string, Body>).every(
      rate => cents(rate.charge) === cents(rate.pay) + cents(rate.emp) + cents(rate.margin),
    ),
    'timelog values = hours x rate': timelogs.every(
      (log: Body) =>
        cents(log.values.pay.standard) === Math.round(log.hours.standard * cents(log.rates.pay)) &&
        cents(log.values.pay.overtime) === Math.round(log.hours.overtime * cents(rates.ot.pay)),
    ),
    'allocations = hours': timelogs.every(
      (log: Body) =>
        log.costCodeAllocations.length === 0 ||
        sum(log.costCodeAllocations, (item: Body) => item.hours) === log.hours.total,
    ),
    'expense = approved expenses': cents(expense) === (claimed(expenses).get(row.id) ?? 0),
    'overtime bucket': cents(pay.wdOvertime) === sum(timelogs, (log: Body) => cents(log.values.pay.overtime)),
    'piece totals = lines': row.pieceRateEntries.every(
      (entry: Body) =>
        cents(entry.totals.chargeValue) === sum(entry.lines, (line: Body) => cents(line.chargeValue)),
    ),
  }
}

function invoiceSums(row: Body, timesheets: ReadonlyMap<string, Body>) {
  const { values } = row
  const sheets = row.timesheets.map((ref: Body) => timesheets.get(ref.id))
  const adHoc = row.reason !== undefined
  return {
    'timesheets exist': sheets.every(Boolean),
    // A timesheet cancelled later stays on its invoice, with a credit note beside it.
    'timesheets approved': sheets.every((sheet: Body) => ['approved', 'cancelled'].includes(sheet?.status)),
    'subtotal = charges':
      adHoc || cents(values.subtotal) === sum(sheets, (sheet: Body) => cents(sheet.values.charge.total)),
    'netHours = timesheets': adHoc || values.netHours === sum(sheets, (sheet: Body) => sheet.netHours),
    'expenses = timesheets':
      cents(values.expenses) === sum(sheets, (sheet: Body) => cents(sheet.values.expense)),
    'vat = 20% of subtotal':
      cents(values.vat) === Math.round((cents(values.subtotal) * values.vatRate) / 100),
    'total = subtotal + vat': cents(values.total) === cents(values.subtotal) + cents(values.vat),
    'cis = rate x subtotal':
      cents(values.cis) === Math.round((cents(values.subtotal) * values.cisRate) / 100),
    'finalTotal = total - cis': cents(values.finalTotal) === cents(values.total) - cents(values.cis),
    'netValue = subtotal + expenses - creditNotes':
      cents(values.netValue) === cents(values.subtotal) + cents(values.expenses) - cents(values.creditNotes),
    'confirmed with a date': (row.status === 'confirmed') === (row.confirmedDate !== null),
  }
}
