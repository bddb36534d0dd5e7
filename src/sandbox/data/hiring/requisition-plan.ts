/** Plans of requisitions, for work that was done and for demand that was never met. */
import { dayMs, hourMs, weekMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { iso } from '../identity.ts'
import type { MasterData } from '../master/master-data.ts'
import type { Site } from '../master/projects.ts'
import { type Trade, trades } from '../names.ts'
import type { Seed } from '../seed.ts'
import { type Placement, type PlacementMaker, weeksFrom } from '../work/placements.ts'
import { type AgencyResponse, type Opening, otherResponses, winningResponses } from './agency-responses.ts'

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

/** Youngest and oldest age in days: raised and open requisitions are recent. */
const ages = { raised: [0.2, 12], approved: [5, 60], cancelled: [4, 540], rejected: [4, 540] } as const

export class RequisitionPlanner {
  readonly #seed: Seed
  readonly #master: MasterData
  readonly #placements: PlacementMaker
  readonly #draw: Draw

  constructor(seed: Seed, master: MasterData, placements: PlacementMaker) {
    this.#seed = seed
    this.#master = master
    this.#placements = placements
    this.#draw = seed.draw('requisitions')
  }

  /** In order of creation. */
  plan(worked: readonly Placement[]): RequisitionPlan[] {
    const plans = crewsOf(worked).map(crew => this.#met(crew))
    for (let left = this.#seed.counts.openRequisitions; left > 0; left -= 1) plans.push(this.#unmet())
    return plans.sort((left, right) => left.createdMs - right.createdMs)
  }

  #met(crew: readonly Placement[]): RequisitionPlan {
    const draw = this.#draw
    const seed = this.#seed
    const [first] = crew as readonly [Placement]
    const site = this.#master.site(first.site.id)
    const assignedMs = Math.min(...crew.map(placement => placement.createdMs))
    const drawnMs = assignedMs - draw.between(12, 45) * dayMs + Math.floor(draw.fraction() * dayMs)
    const onSiteMs = Math.min(Date.parse(site.createdAt) + hourMs, assignedMs - 5 * dayMs)
    const createdMs = Math.max(drawnMs, onSiteMs)
    const approvals = this.#approvals(createdMs, (assignedMs - createdMs) / 8)
    const startMs = Math.min(...crew.map(placement => placement.weeks[0] as number))
    const recent = startMs > seed.endMs - openWeeks * weekMs
    const short = recent && draw.chance(0.4) ? draw.between(1, 2) : 0
    const dropouts = draw.chance(0.06) ? [this.#placements.makeFor({ ...first, site })] : []
    const opening: Opening = [approvals[1] as number, assignedMs]
    const winners = winningResponses(draw, [...crew, ...dropouts], opening)
    return {
      ...{ site, trade: first.trade, createdMs, approvals, startMs },
      fate: short > 0 ? 'approved' : 'filled',
      quantity: crew.length + short,
      endMs: Math.max(...crew.map(placement => placement.weeks.at(-1) as number)) + weekMs,
      responses: [...winners, ...this.#others(opening, winners)],
      dropouts: new Set(dropouts),
    }
  }

  #others(opening: Opening, winners: readonly AgencyResponse[]): AgencyResponse[] {
    const { agencies } = this.#master
    const besides = winners.map(response => response.agency)
    const least = winners.length > 0 ? 0 : 1
    return otherResponses(this.#draw, { agencies, besides, least, opening })
  }

  #approvals(createdMs: number, widthMs: number): number[] {
    const first = createdMs + hourMs + this.#draw.fraction() * widthMs
    return [Math.floor(first), Math.floor(first + hourMs + this.#draw.fraction() * widthMs)]
  }

  #unmet(): RequisitionPlan {
    const draw = this.#draw
    const seed = this.#seed
    const fate = draw.weighted([
      ['cancelled', 36],
      ['approved', 38],
      ['rejected', 12],
      ['raised', 14],
    ] as const)
    const [youngest, oldest] = ages[fate]
    const createdMs = Math.floor(seed.endMs - (youngest + draw.fraction() * (oldest - youngest)) * dayMs)
    const site = this.#siteBefore(createdMs)
    const trade = draw.skewed(trades)
    const endedMs = draw.time(createdMs + 3 * hourMs, createdMs + 30 * dayMs)
    const ends = fate === 'cancelled' || fate === 'rejected'
    const untilMs = ends ? endedMs : seed.endMs - hourMs
    const startMs = this.#mondayAfter(fate === 'approved' ? seed.endMs : createdMs) + 2 * weekMs
    const plan = {
      ...{ site, trade, fate, createdMs, startMs, quantity: draw.between(1, 5) },
      approvals: this.#approvals(createdMs, 1.2 * dayMs)
        .slice(0, this.#stagesPassed(fate))
        .filter(time => time < untilMs),
      endMs: startMs + draw.between(2, 26) * weekMs,
      dropouts: new Set<Placement>(),
      ...(ends ? { endedMs } : {}),
    }
    return { ...plan, responses: this.#responses(plan, untilMs) }
  }

  #stagesPassed(fate: Fate): number {
    if (fate === 'approved') return 2
    if (fate === 'cancelled') return this.#draw.chance(0.8) ? 2 : 0
    return this.#draw.chance(0.4) ? 1 : 0
  }

  /** A site created before then, if a few draws find one. */
  #siteBefore(timeMs: number): Site {
    const { sites } = this.#master
    const latest = iso(timeMs)
    let site = this.#draw.pick(sites)
    for (let draws = 0; draws < siteDraws && site.createdAt >= latest; draws += 1)
      site = this.#draw.pick(sites)
    return site
  }

  #mondayAfter(timeMs: number): number {
    const weeks = Math.floor((timeMs - this.#seed.firstWeekMs) / weekMs) + 1
    return this.#seed.firstWeekMs + weeks * weekMs
  }

  /** An open requisition may have some of its workers already, never all. */
  #responses(plan: Omit<RequisitionPlan, 'responses'>, untilMs: number): AgencyResponse[] {
    const draw = this.#draw
    const { site, trade, startMs, endMs, approvals } = plan
    const [, approvedMs] = approvals
    if (approvedMs === undefined) return []
    const count = plan.fate === 'approved' ? draw.between(0, Math.min(2, plan.quantity - 1)) : 0
    const found = Array.from({ length: count }, () => {
      const agency = draw.skewed(this.#master.agencies, 3)
      const createdMs = draw.time(Math.min(approvedMs + dayMs, untilMs), untilMs)
      return this.#placements.makeFor({ site, trade, agency, createdMs, weeks: weeksOf(startMs, endMs) })
    })
    const winners = winningResponses(draw, found, [approvedMs, untilMs])
    return [...winners, ...this.#others([approvedMs, untilMs], winners)]
  }
}

export function weeksOf(startMs: number, endMs: number): number[] {
  return weeksFrom(startMs, Math.max(1, Math.round((endMs - startMs) / weekMs)))
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
