import type { Audit } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { perspectivesOf } from '../perspectives.ts'
import { byId, dayOf, idOf, sum } from '../words.ts'

const penny = 0.0100001

function stateOf(named: number, found: number, { difference, pieces }: Record<string, number>): string {
  if (named === 0) return 'no timesheets'
  if (found < named) return 'not all found'
  const gap = Math.abs(difference as number)
  if (gap <= penny) return 'matched'
  if ((pieces as number) > 0 && Math.abs(gap - (pieces as number)) <= penny) return 'matched with pieces'
  return (difference as number) > 0 ? 'billed more' : 'billed less'
}

export const invoiceMatch: Audit = {
  mart: 'invoice_match',
  rows: ({ live }) => {
    const sheets = byId(live.timesheets)
    const namedBy = (invoice: Raw): string[] => [
      ...new Set<string>(invoice.timesheets.map(({ id }: Raw) => id)),
    ]
    const bills = new Map<string, number>()
    for (const invoice of live.invoices)
      for (const id of namedBy(invoice)) {
        const key = `${invoice.invoiceType} ${id}`
        bills.set(key, (bills.get(key) ?? 0) + 1)
      }
    return live.invoices.flatMap(invoice => {
      const ids = namedBy(invoice)
      const found = ids.flatMap(id => sheets.get(id) ?? [])
      const worked = sum(found, ({ values }) => values.charge.total)
      const pieces = sum(
        found.flatMap(({ pieceRateEntries }) => pieceRateEntries),
        ({ totals }: Raw) => totals.chargeValue,
      )
      // In this world a subtotal is without expenses.
      const difference = invoice.values.subtotal - worked
      return perspectivesOf(invoice.invoiceType).map(perspective => ({
        perspective,
        invoice_id: invoice.id,
        invoice_reference: invoice.reference,
        company_id: idOf(invoice.company),
        agency_id: idOf(invoice.agency),
        invoice_type: invoice.invoiceType,
        status: invoice.status,
        week_ending_date: dayOf(invoice.weekEnding),
        timesheets_named: ids.length,
        timesheets_found: found.length,
        timesheets_not_approved: found.filter(({ status }) => status !== 'approved').length,
        timesheets_billed_twice: ids.filter(id => (bills.get(`${invoice.invoiceType} ${id}`) ?? 0) > 1)
          .length,
        invoice_value: invoice.values.subtotal,
        expense_value: invoice.values.expenses,
        expense_basis: 'without expenses',
        timesheet_value: worked,
        piece_value: pieces,
        difference_value: difference,
        invoice_hours: invoice.values.netHours,
        timesheet_hours: sum(found, ({ netHours }) => netHours),
        match_state: stateOf(ids.length, found.length, { difference, pieces }),
      }))
    })
  },
}
