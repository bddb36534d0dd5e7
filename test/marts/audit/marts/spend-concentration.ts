import { cardsOf } from '../cards.ts'
import type { Audit, Expected } from '../compare.ts'
import { byId, dayOf, groupBy, idOf, isWorked, monthOf, ratio, sum } from '../words.ts'

export const spendConcentration: Audit = {
  mart: 'spend_concentration',
  rows: service => {
    const assignments = byId(service.live.assignments)
    const cardOf = cardsOf(service)
    const worked = service.live.timesheets.filter(isWorked).map(sheet => {
      const assignment = assignments.get(sheet.assignment?.id)
      const isWanted = assignment?.requisition?.id != null
      const isOrdered = assignment?.purchaseOrder != null
      const isCarded = assignment !== undefined && cardOf(assignment) !== undefined
      const charge: number = sheet.values.charge.total
      return { sheet, charge, isUnknown: !assignment, isWanted, isOrdered, isCarded }
    })
    const groups = groupBy(
      worked,
      ({ sheet }) => `${idOf(sheet.company)} ${monthOf(dayOf(sheet.weekEnding) as string)}`,
    )
    return [...groups].map(([key, items]): Expected => {
      const [company = '', month = ''] = key.split(' ')
      const spend = (of: (item: (typeof items)[0]) => boolean): number =>
        sum(items.filter(of), ({ charge }) => charge)
      const named = items.filter(({ sheet }) => idOf(sheet.agency) !== '-1')
      const agencies = [...groupBy(named, ({ sheet }) => idOf(sheet.agency))]
        .map(([id, own]) => ({ id, value: Math.round(sum(own, ({ charge }) => charge) * 1e4) / 1e4 }))
        .filter(({ value }) => value > 0)
        .sort((one, other) => other.value - one.value || (one.id < other.id ? -1 : 1))
      const known = sum(agencies, ({ value }) => value)
      const three = sum(agencies.slice(0, 3), ({ value }) => value)
      const [largest] = agencies
      const managed = spend(one => one.isWanted && (one.isOrdered || one.isCarded))
      const all = spend(() => true)
      return {
        company_id: company,
        month_start_date: month,
        spend: all,
        requisition_spend: spend(one => one.isWanted),
        order_spend: spend(one => one.isOrdered),
        carded_spend: spend(one => one.isCarded),
        unknown_assignment_spend: spend(one => one.isUnknown),
        managed_spend: managed,
        managed_ratio: ratio(managed, all),
        agency_spend: known,
        agencies: agencies.length,
        largest_agency_id: largest?.id ?? null,
        largest_agency_spend: largest?.value ?? null,
        largest_agency_share: largest ? largest.value / known : null,
        three_largest_spend: largest ? three : null,
        three_largest_share: largest ? three / known : null,
        herfindahl_index: largest ? sum(agencies, ({ value }) => (value / known) ** 2) : null,
      }
    })
  },
}
