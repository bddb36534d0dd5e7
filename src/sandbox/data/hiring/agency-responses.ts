/** Agencies of a requisition: who was asked, who answered when, and whom they put forward. */
import { dayMs, minuteMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import type { Agency } from '../master/companies.ts'
import type { Placement } from '../work/placements.ts'
import { assignedCandidate, type Candidate, otherCandidate } from './recruitment.ts'

/** One agency's part in a requisition. */
export interface Party {
  readonly agency: Agency
  readonly offered: number
  readonly receivedMs: number
  readonly acceptedMs: number | undefined
  readonly candidates: readonly Candidate[]
  /** Those of its workers who were assigned, also if the assignment was cancelled later. */
  readonly placements: readonly Placement[]
}

/** From the final approval until the first worker is assigned, or nobody is wanted any more. */
export type Opening = readonly [fromMs: number, untilMs: number]

const latestAnswerMs = 28 * dayMs
const answersShare = 0.75

/** Agencies whose workers were assigned: they answered, and their workers went all the way. */
export function suppliers(draw: Draw, placements: readonly Placement[], [fromMs]: Opening): Party[] {
  return [...byAgency(placements)].map(([agency, own]) => {
    const soonest = Math.min(...own.map(placement => placement.createdMs))
    const receivedMs = fromMs + draw.between(1, 30) * minuteMs
    const acceptedMs = Math.floor(receivedMs + draw.fraction() ** 3 * 0.6 * (soonest - receivedMs))
    const assigned = own.map(placement =>
      assignedCandidate(draw, placement.worker, [acceptedMs, placement.createdMs]),
    )
    const more = draw.chance(0.35) ? [otherCandidate(draw, [acceptedMs, soonest])] : []
    return {
      agency,
      offered: own.length + (draw.chance(0.3) ? 1 : 0),
      receivedMs,
      acceptedMs,
      candidates: [...assigned, ...more],
      placements: own,
    }
  })
}

function byAgency(placements: readonly Placement[]): Map<Agency, Placement[]> {
  const groups = new Map<Agency, Placement[]>()
  for (const placement of placements) {
    const group = groups.get(placement.agency)
    if (group) group.push(placement)
    else groups.set(placement.agency, [placement])
  }
  return groups
}

export interface Asking {
  readonly agencies: readonly Agency[]
  readonly besides: readonly Agency[]
  readonly least: number
  readonly opening: Opening
}

/**
 * Agencies that were asked too: not all of them answer, and nobody of theirs is taken. Most answers
 * come within days, some late: the outliers of time to fill.
 */
export function bystanders(draw: Draw, { agencies, besides, least, opening }: Asking): Party[] {
  const asked = new Set(besides)
  const parties: Party[] = []
  for (let left = draw.between(least, 3); left > 0; left -= 1) {
    const agency = draw.skewed(agencies)
    const nextTier = draw.chance(0.3) ? dayMs : 0
    const receivedMs = opening[0] + nextTier + draw.between(1, 30) * minuteMs
    const answeredMs = Math.floor(receivedMs + draw.fraction() ** 3 * latestAnswerMs)
    const answers = draw.chance(answersShare) && answeredMs < opening[1]
    const count = draw.between(0, 2)
    if (asked.has(agency) || receivedMs >= opening[1]) continue
    asked.add(agency)
    parties.push({
      agency,
      offered: 1,
      receivedMs,
      acceptedMs: answers ? answeredMs : undefined,
      candidates: answers
        ? Array.from({ length: count }, () => otherCandidate(draw, [answeredMs, opening[1]]))
        : [],
      placements: [],
    })
  }
  return parties
}
