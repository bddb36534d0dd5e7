import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { perspectivesOf } from '../perspectives.ts'
import { addDays, dayOf, daysFrom, groupBy, idOf, ratio, sum } from '../words.ts'
import { endOfMonth, monthsBetween } from './workforce-flow.ts'

interface Bill {
  readonly value: number
  readonly issued: string
  readonly due: string | null
  readonly paid: string | null
  readonly isPending: boolean
}

const billOf = ({ values, createdAt, due, payment, confirmedDate, status }: Raw): Bill => ({
  value: values.finalTotal,
  issued: dayOf(createdAt) as string,
  due: dayOf(due),
  paid: payment ? (dayOf(payment.paymentDate) ?? dayOf(confirmedDate)) : null,
  isPending: status !== 'confirmed' && !payment,
})

const total = (bills: readonly Bill[]): number => sum(bills, ({ value }) => value)

export const paymentAgeing: Audit = {
  mart: 'payment_ageing',
  rows: ({ live, today }) => {
    const owed = live.invoices.flatMap(invoice =>
      perspectivesOf(invoice.invoiceType).map(perspective => ({ perspective, invoice })),
    )
    const viewOf = (one: (typeof owed)[number]) => `${one.perspective} ${idOf(one.invoice.company)}`
    const seen = new Set(owed.filter(({ invoice }) => invoice.payment).map(viewOf))
    const groups = groupBy(owed, one => `${viewOf(one)} ${idOf(one.invoice.agency)}`)
    return [...groups].flatMap(([key, found]) => {
      const [perspective = '', company = '', agency = ''] = key.split(' ')
      const all = found.map(({ invoice }) => billOf(invoice))
      const bills = all.filter(({ isPending }) => !isPending)
      const first = all.map(({ issued }) => issued).sort()[0] as string
      return monthsBetween(first, today).map((month): Expected => {
        const last = endOfMonth(month, today)
        const until = bills.filter(({ issued }) => issued <= last)
        const open = until.filter(({ paid }) => paid === null || paid > last)
        const paid = until.filter(
          ({ paid: day, issued }) => day !== null && day <= last && (day >= month || issued >= month),
        )
        const late = ({ due }: Bill): number => (due === null ? 0 : daysFrom(due, last))
        const aged = (from: number, to: number): number =>
          total(open.filter(one => late(one) >= from && late(one) <= to))
        const recent = total(until.filter(({ issued }) => issued > addDays(last, -90)))
        const days = sum(paid, one => daysFrom(one.issued, one.paid as string))
        const isSeen = seen.has(`${perspective} ${company}`)
        const shown = <Value>(value: Value): Value | null => (isSeen ? value : null)
        return {
          perspective,
          company_id: company,
          agency_id: agency,
          month_start_date: month,
          month_end_date: last,
          is_payment_seen: isSeen,
          issued_value: total(bills.filter(({ issued }) => issued >= month && issued <= last)),
          pending_value: total(all.filter(one => one.isPending && one.issued <= last)),
          paid_value: shown(total(paid)),
          paid_invoices: shown(paid.length),
          paid_late: shown(paid.filter(one => one.due !== null && (one.paid as string) > one.due).length),
          avg_days_to_pay: shown(ratio(days, paid.length)),
          open_value: shown(total(open)),
          not_due_value: shown(aged(-100_000, 0)),
          overdue_1_to_30_value: shown(aged(1, 30)),
          overdue_31_to_60_value: shown(aged(31, 60)),
          overdue_61_to_90_value: shown(aged(61, 90)),
          overdue_over_90_value: shown(aged(91, 100_000)),
          issued_90_days_value: recent,
          dso_days: isSeen && recent !== 0 ? (total(open) / recent) * 90 : null,
        }
      })
    })
  },
}
