import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { addDays, dayOf, daysFrom, distinct, groupBy, idOf, md5, ratio, sum } from '../words.ts'

const cents = (value: number): number => Math.round(value * 1e4 + 1e-6) / 1e4

/** Charge times begun weeks; null without a charge or a planned day. */
function plannedOf({ values, startDate, endDate }: Raw): number | null {
  const [from, until] = [dayOf(startDate), dayOf(endDate)]
  if (values?.charge == null || !from || !until) return null
  return values.charge * Math.max(1, Math.ceil((daysFrom(from, until) + 1) / 7))
}

export const purchaseOrderBurn: Audit = {
  mart: 'purchase_order_burn',
  rows: ({ live, gone, today }) => {
    const read = [...live.assignments, ...gone.assignments]
    const readIds = new Set(read.map(({ id }) => id))
    const orderOf = (one: Raw): string => `${idOf(one.company)}|${one.purchaseOrder}`
    const named = read.filter(({ purchaseOrder }) => purchaseOrder != null)
    const orderOfAssignment = new Map(named.map(one => [one.id, orderOf(one)]))
    const approved = live.timesheets.filter(({ status }) => status === 'approved')
    const sheetsOf = groupBy(approved, ({ assignment }) => orderOfAssignment.get(assignment?.id) ?? '')
    const orders = new Map(live.purchaseOrders.map(one => [`${idOf(one.company)}|${one.reference}`, one]))
    const others = named.map(orderOf).filter(key => !orders.has(key))
    return [...new Set([...orders.keys(), ...others])].map((key): Expected => {
      const order = orders.get(key)
      const [company = '', reference = ''] = key.split('|')
      const own = live.assignments.filter(
        one => one.purchaseOrder != null && orderOf(one) === key && one.status !== 'cancelled',
      )
      const planned = own.map(plannedOf)
      const committed = cents(sum(planned, value => value))
      const sheets = sheetsOf.get(key) ?? []
      const spent = sum(sheets, ({ values }) => values.charge.total)
      const recent = sheets.filter(({ weekEnding }) => {
        const week = dayOf(weekEnding)
        return week !== null && week > addDays(today, -56) && week <= today
      })
      const weekly = cents(sum(recent, ({ values }) => values.charge.total) / 8)
      const known = approved
        .filter(one => idOf(one.company) === company && one.assignment)
        .map(({ assignment }) => assignment.id)
      const held = distinct(known.filter(id => readIds.has(id)))
      const value = order?.value ?? null
      const rest = value === null ? null : value - spent
      const end = dayOf(order?.endDate)
      const runOut =
        rest === null || weekly <= 0
          ? null
          : addDays(today, Math.min(36500, Math.max(0, Math.floor((rest * 7) / weekly))))
      return {
        purchase_order_reference_key: md5(company, reference),
        purchase_order_id: order?.id ?? md5(company, reference),
        reference,
        company_id: company,
        agency_id: idOf(order?.agency),
        status: order?.status ?? null,
        is_read: order !== undefined,
        start_date: dayOf(order?.startDate),
        end_date: end,
        is_revoked: Boolean(order?.revoked) && !order?.reinstated,
        assignments: own.length,
        order_value: value,
        assignments_without_weeks: planned.filter(one => one === null).length,
        committed_if_charged_weekly_value: committed,
        company_assignments_known: distinct(known),
        company_assignments_stored: held,
        assignment_coverage: ratio(held, distinct(known)),
        spent_value: spent,
        remaining_value: rest,
        uncommitted_if_charged_weekly_value: value === null ? null : value - committed,
        remaining_share: rest === null ? null : ratio(rest, value as number),
        weekly_spend_value: weekly,
        projected_exhaustion_date: runOut,
        is_overspent: value === null ? null : spent > value,
        runs_out_before_end: runOut === null || end === null ? null : runOut < end,
      }
    })
  },
}
