import type { Service } from '../audited.ts'
import { cardsOf } from '../cards.ts'
import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { byId, groupBy, idOf, isWorked, ratio, sum } from '../words.ts'

/** The first of the reasons that applies. */
function reasonsOf({ live }: Service, cardOf: (assignment: Raw) => unknown): (assignment: Raw) => string {
  return assignment => {
    if (!assignment) return 'assignment not known'
    if (cardOf(assignment)) return 'on a card'
    if (idOf(assignment.trade) === '-1') return 'no trade'
    const cards = live.rates.filter(({ trade }) => idOf(trade) === assignment.trade.id)
    const sets = cards.flatMap(card => [card.rates ?? {}, card.dayRates ?? {}])
    const has = (set: Raw, type: string): boolean => set?.[type]?.charge != null
    if (!sets.some(set => Object.keys(set).some(type => has(set, type)))) return 'no card for the trade'
    if (!sets.some(set => has(set, assignment.rateType))) return 'no card for the engagement type'
    const side = assignment.payType === 'daily' ? 'dayRates' : 'rates'
    const isOffered = cards.some(card => has(card[side], assignment.rateType))
    return isOffered ? 'other reach' : 'no card for the pay type'
  }
}

export const rateCardCoverage: Audit = {
  mart: 'rate_card_coverage',
  rows: service => {
    const assignments = byId(service.live.assignments)
    const reasonOf = reasonsOf(service, cardsOf(service))
    const worked = service.live.timesheets.filter(isWorked).map(sheet => {
      const assignment = assignments.get(sheet.assignment?.id)
      const place = {
        company_id: idOf(sheet.company),
        agency_id: idOf(sheet.agency),
        trade_id: idOf(assignment?.trade),
        rate_type: assignment?.rateType ?? 'none',
        pay_type: assignment?.payType ?? 'none',
        reason: reasonOf(assignment),
      }
      return { sheet, place }
    })
    const companies = groupBy(worked, ({ place }) => place.company_id)
    const groups = groupBy(worked, ({ place }) => Object.values(place).join('|'))
    return [...groups.values()].map((items): Expected => {
      const { place } = items[0] as (typeof items)[0]
      const hours = sum(items, ({ sheet }) => sheet.netHours)
      const all = sum(companies.get(place.company_id) ?? [], ({ sheet }) => sheet.netHours)
      return {
        ...place,
        timesheets: items.length,
        net_hours: hours,
        charge_value: sum(items, ({ sheet }) => sheet.values.charge.total),
        company_hours: all,
        hours_share: ratio(hours, all),
      }
    })
  },
}
