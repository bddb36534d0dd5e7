import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { byId, dayOf, groupBy, idOf, isWorked, monthOf, ratio, sum } from '../words.ts'

export const agencyMargin: Audit = {
  mart: 'agency_margin',
  rows: ({ live, gone }) => {
    const assignments = byId([...live.assignments, ...gone.assignments])
    const parts = live.timesheets.filter(isWorked).flatMap(sheet => {
      const place = {
        month_start_date: monthOf(dayOf(sheet.weekEnding) as string),
        company_id: idOf(sheet.company),
        agency_id: idOf(sheet.agency),
        trade_id: idOf(assignments.get(sheet.assignment?.id)?.trade),
        rate_type: sheet.rateType ?? 'none',
      }
      const logs = sheet.timelogs.map(({ hours, values }: Raw) => ({
        place: { ...place, work_kind: 'hours' },
        figures: [hours.total, values.pay.total, values.emp.total, values.margin.total, values.charge.total],
      }))
      const pieces = sheet.pieceRateEntries.map(({ totals }: Raw) => ({
        place: { ...place, work_kind: 'pieces' },
        figures: [totals.units, totals.payValue, totals.empValue, totals.marginValue, totals.chargeValue],
      }))
      return [...logs, ...pieces]
    })
    const groups = groupBy(parts, ({ place }) => Object.values(place).join('|'))
    return [...groups.values()].map((items): Expected => {
      const total = (place: number): number => sum(items, ({ figures }) => figures[place])
      const [quantity, pay, emp, margin, charge] = [0, 1, 2, 3, 4].map(total) as [
        number,
        number,
        number,
        number,
        number,
      ]
      return {
        ...items[0]?.place,
        quantity,
        pay_value: pay,
        employer_cost_value: emp,
        margin_value: margin,
        charge_value: charge,
        other_value: charge - pay - emp - margin,
        markup_ratio: ratio(charge - pay, pay),
        margin_ratio: ratio(margin, charge),
      }
    })
  },
}
