/**
 * The rate card that applies to an assignment: one for the project and agency comes before one for the project, then one
 * for the agency, then a general one; among equals the one that names the region and sector, then the newest.
 */

import type { Service } from './audited.ts'
import type { Raw } from './odd-world.ts'
import { groupBy, idOf } from './words.ts'

export interface Card {
  readonly rate: Raw
  /** The rate set of the engagement type, by the hour or by the day. */
  readonly set: Raw
  readonly reach: string
}

const named = (ref: Raw): boolean => ref?.id != null
const fits = (limit: Raw, own: Raw): boolean => !named(limit) || limit.id === own?.id

function reachOf({ project, agency }: Raw): readonly [rank: number, reach: string] {
  if (named(project)) return named(agency) ? [1, 'project and agency'] : [2, 'project']
  return named(agency) ? [3, 'agency'] : [4, 'general']
}

/** Looks up cards by trade; with `needs`, of those that give this figure. */
export function cardsOf({ live }: Service, needs = 'charge'): (assignment: Raw) => Card | undefined {
  const byTrade = groupBy(live.rates, ({ trade }) => idOf(trade))
  return assignment => {
    const side = assignment.payType === 'daily' ? 'dayRates' : 'rates'
    const cards = (named(assignment.trade) ? (byTrade.get(assignment.trade.id) ?? []) : [])
      .filter(
        rate =>
          rate[side]?.[assignment.rateType]?.[needs] != null &&
          idOf(rate.company) === idOf(assignment.company) &&
          fits(rate.project, assignment.project) &&
          fits(rate.agency, assignment.agency) &&
          fits(rate.region, assignment.region) &&
          fits(rate.sector, assignment.sector),
      )
      .map(rate => {
        const [rank, reach] = reachOf(rate)
        const place = named(rate.region) && named(rate.sector) ? 0 : 1
        return { rate, set: rate[side][assignment.rateType], reach, order: [rank, place] as const }
      })
    return cards.sort(
      (one, other) =>
        one.order[0] - other.order[0] ||
        one.order[1] - other.order[1] ||
        (one.rate.updatedAt < other.rate.updatedAt ? 1 : -1),
    )[0]
  }
}
