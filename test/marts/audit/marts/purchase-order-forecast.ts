import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { addDays, dayOf, daysFrom, groupBy, idOf, md5, ratio, sum } from '../words.ts'

function stateOf({ value }: Raw, today: string, { end, weekly, runOut }: Raw): string {
  if (end === null || value == null) return 'not known'
  if (end < today) return 'ended'
  if (weekly === 0) return 'no recent spend'
  return runOut !== null && runOut < end ? 'runs out before its end' : 'lasts to its end'
}

export const purchaseOrderForecast: Audit = {
  mart: 'purchase_order_forecast',
  rows: ({ live, gone, today }) => {
    const assignments = [...live.assignments, ...gone.assignments].filter(one => one.purchaseOrder != null)
    const orderOf = new Map(
      assignments.map(one => [one.id, `${idOf(one.company)}|${one.purchaseOrder}`] as const),
    )
    const approved = live.timesheets.filter(({ status }) => status === 'approved')
    const sheetsOf = groupBy(approved, ({ assignment }) => orderOf.get(assignment?.id) ?? '')
    return live.purchaseOrders.map((order): Expected => {
      const sheets = sheetsOf.get(`${idOf(order.company)}|${order.reference}`) ?? []
      const chargeOf = ({ values }: Raw): number => values.charge.total
      const recent = sheets.filter(({ weekEnding }) => {
        const week = dayOf(weekEnding)
        return week !== null && week > addDays(today, -56) && week <= today
      })
      const spent = sum(sheets, chargeOf)
      const weekly = Math.round((sum(recent, chargeOf) / 8) * 1e4 + 1e-6) / 1e4
      const end = dayOf(order.endDate)
      const left = end === null ? null : Math.max(0, daysFrom(today, end))
      const forecast = left === null ? null : spent + (weekly * left) / 7
      const rest = order.value - spent
      const runOut = weekly > 0 ? addDays(today, Math.max(0, Math.floor((rest * 7) / weekly))) : null
      return {
        purchase_order_reference_key: md5(idOf(order.company), order.reference),
        company_id: idOf(order.company),
        agency_id: idOf(order.agency),
        end_date: end,
        order_value: order.value,
        spent_value: spent,
        weekly_spend_value: weekly,
        days_left: left,
        forecast_value: forecast,
        variance_value: forecast === null ? null : order.value - forecast,
        variance_ratio: forecast === null ? null : ratio(order.value - forecast, order.value),
        run_out_date: runOut,
        days_short: end === null || runOut === null ? null : daysFrom(runOut, end),
        forecast_state: stateOf(order, today, { end, weekly, runOut }),
      }
    })
  },
}
