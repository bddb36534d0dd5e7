/** Plans requisitions, for work that was done and for demand that was never met. */
import { dayMs, hourMs, weekdayFrom, weekMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { iso } from '../identity.ts'
import type { RecordMaking } from '../master/master-data.ts'
import type { Site } from '../master/projects.ts'
import { type Trade, trades } from '../names.ts'
import { type Placement, placementFor, weeksOf } from '../work/placements.ts'
import { type AgencyResponse, agencyResponses } from './agency-responses.ts'
import type { EngagementMaking } from './engagements.ts'

type Fate = 'raised' | 'approved' | 'filled' | 'cancelled' | 'rejected'

export interface RequisitionPlan {
  readonly site: Site
  readonly trade: Trade
  readonly fate: Fate
  readonly quantity: number
  readonly createdMs: number
  /** One time per stage that approved; the second is the final approval. */
  readonly approvals: readonly number[]
  /** When it was cancelled or rejected. */
  readonly endedMs?: number
  readonly startMs: number
  readonly endMs: number
  readonly responses: readonly AgencyResponse[]
  /** Assigned, then called off before the first day. */
  readonly dropouts: ReadonlySet<Placement>
}

const crewMax = 6
const siteDraws = 30
/** Work at one site in one trade that begins within this many weeks belongs to one requisition. */
const crewWeeks = 4
/** Only demand this recent is still open. */
const openWeeks = 12

const unmetFates = [
  ['cancelled', 36],
  ['approved', 38],
  ['rejected', 12],
  ['raised', 14],
] as const
/** Youngest and oldest age in days: raised and open requisitions are recent. */
const ages = { raised: [0.2, 12], approved: [5, 60], cancelled: [4, 540], rejected: [4, 540] } as const

/** Plans all requisitions, in order of creation. */
export function planRequisitions(making: EngagementMaking, worked: readonly Placement[]): RequisitionPlan[] {
  const met = crewsOf(worked).map(crew => metDemand(making, crew))
  const unmet = making.draw.times(making.seed.counts.openRequisitions, () => unmetDemand(making))
  return [...met, ...unmet].sort((left, right) => left.createdMs - right.createdMs)
}

function metDemand(making: EngagementMaking, crew: readonly Placement[]): RequisitionPlan {
  const { draw, seed, master, placements } = making
  const [first] = crew as readonly [Placement]
  const site = master.site(first.site.id)
  const assignedMs = Math.min(...crew.map(placement => placement.createdMs))
  const drawnMs = assignedMs - draw.between(12, 45) * dayMs + Math.floor(draw.fraction() * dayMs)
  const onSiteMs = Math.min(Date.parse(site.createdAt) + hourMs, assignedMs - 5 * dayMs)
  const createdMs = Math.max(drawnMs, onSiteMs)
  const approvals = approvalTimes(draw, createdMs, (assignedMs - createdMs) / 8)
  const startMs = Math.min(...crew.map(placement => placement.weeks[0] as number))
  const recent = startMs > seed.endMs - openWeeks * weekMs
  const short = recent && draw.chance(0.4) ? draw.between(1, 2) : 0
  const dropouts = draw.chance(0.06) ? [placementFor(placements, { ...first, site })] : []
  return {
    ...{ site, trade: first.trade, createdMs, approvals, startMs },
    fate: short > 0 ? 'approved' : 'filled',
    quantity: crew.length + short,
    endMs: Math.max(...crew.map(placement => placement.weeks.at(-1) as number)) + weekMs,
    responses: agencyResponses(making, [...crew, ...dropouts], [approvals[1] as number, assignedMs]),
    dropouts: new Set(dropouts),
  }
}

function approvalTimes(draw: Draw, createdMs: number, widthMs: number): number[] {
  const first = createdMs + hourMs + draw.fraction() * widthMs
  return [Math.floor(first), Math.floor(first + hourMs + draw.fraction() * widthMs)]
}

function unmetDemand(making: EngagementMaking): RequisitionPlan {
  const { draw, seed } = making
  const fate = draw.weighted(unmetFates)
  const [youngest, oldest] = ages[fate]
  const createdMs = Math.floor(seed.endMs - (youngest + draw.fraction() * (oldest - youngest)) * dayMs)
  const site = siteBefore(making, createdMs)
  const trade = draw.skewed(trades)
  const endedMs = draw.time(createdMs + 3 * hourMs, createdMs + 30 * dayMs)
  const ends = fate === 'cancelled' || fate === 'rejected'
  const untilMs = ends ? endedMs : seed.endMs - hourMs
  // The Monday after, and two weeks.
  const startMs = weekdayFrom((fate === 'approved' ? seed.endMs : createdMs) + 15 * dayMs, 0)
  const plan = {
    ...{ site, trade, fate, createdMs, startMs, quantity: draw.between(1, 5) },
    approvals: approvalTimes(draw, createdMs, 1.2 * dayMs)
      .slice(0, stagesPassed(draw, fate))
      .filter(time => time < untilMs),
    endMs: startMs + draw.between(2, 26) * weekMs,
    dropouts: new Set<Placement>(),
    ...(ends && { endedMs }),
  }
  return { ...plan, responses: responsesTo(making, plan, untilMs) }
}

function stagesPassed(draw: Draw, fate: Fate): number {
  if (fate === 'approved') return 2
  if (fate === 'cancelled') return draw.chance(0.8) ? 2 : 0
  return draw.chance(0.4) ? 1 : 0
}

/** A site created before then, if a few draws find one. */
function siteBefore({ draw, master }: RecordMaking, timeMs: number): Site {
  const latest = iso(timeMs)
  let site = draw.pick(master.sites)
  for (let draws = 0; draws < siteDraws && site.createdAt >= latest; draws += 1)
    site = draw.pick(master.sites)
  return site
}

/** An open requisition may have some of its workers already, never all. */
function responsesTo(
  making: EngagementMaking,
  { site, trade, startMs, endMs, approvals, fate, quantity }: Omit<RequisitionPlan, 'responses'>,
  untilMs: number,
): AgencyResponse[] {
  const { draw, master, placements } = making
  const [, approvedMs] = approvals
  if (approvedMs === undefined) return []
  const count = fate === 'approved' ? draw.between(0, Math.min(2, quantity - 1)) : 0
  const found = draw.times(count, () => {
    const agency = draw.skewed(master.agencies, 3)
    const createdMs = draw.time(Math.min(approvedMs + dayMs, untilMs), untilMs)
    return placementFor(placements, { site, trade, agency, createdMs, weeks: weeksOf(startMs, endMs) })
  })
  return agencyResponses(making, found, [approvedMs, untilMs])
}

function crewsOf(worked: readonly Placement[]): Placement[][] {
  const open = new Map<string, Placement[]>()
  const crews: Placement[][] = []
  const inOrder = [...worked].sort((left, right) => (left.weeks[0] as number) - (right.weeks[0] as number))
  for (const placement of inOrder) {
    const name = `${placement.site.id} ${placement.trade.name}`
    const crew = open.get(name)
    const begun = crew?.[0]?.weeks[0] ?? -Infinity
    if (crew && crew.length < crewMax && (placement.weeks[0] as number) < begun + crewWeeks * weekMs) {
      crew.push(placement)
    } else {
      const fresh = [placement]
      open.set(name, fresh)
      crews.push(fresh)
    }
  }
  return crews
}
