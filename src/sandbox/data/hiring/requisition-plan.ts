/** What requisitions are made from: the work that was done, and demand that nobody met. */
import { dayMs, hourMs, weekMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import { iso } from '../identity.ts'
import type { Site } from '../master/projects.ts'
import { trades as allTrades, type Trade } from '../names.ts'
import type { Seed } from '../seed.ts'
import type { Placement, PlacementMaker, Stage } from '../work/placements.ts'
import { bystanders, type Opening, type Party, suppliers } from './agency-responses.ts'

type Fate = 'raised' | 'approved' | 'filled' | 'cancelled' | 'rejected'

export interface RequisitionPlan {
  readonly site: Site
  readonly trade: Trade
  readonly fate: Fate
  readonly quantity: number
  readonly createdMs: number
  /** One for each stage that approved; the second one is the final approval. */
  readonly approvals: readonly number[]
  /** When it was cancelled or rejected. */
  readonly endedMs?: number
  readonly startMs: number
  readonly endMs: number
  readonly parties: readonly Party[]
  /** Assigned, then called off before the first day. */
  readonly dropouts: ReadonlySet<Placement>
}

const crewMax = 6
const siteDraws = 30
/** Work at one site and trade that begins within so many weeks answers one requisition. */
const crewWeeks = 4
/** Only demand this recent is still open. */
const openWeeks = 12

/** Ages in days, youngest and oldest: what is still raised or open was created lately. */
const ages = { raised: [0.2, 12], approved: [5, 60], cancelled: [4, 540], rejected: [4, 540] } as const

export class RequisitionPlanner {
  readonly #seed: Seed
  readonly #stage: Stage
  readonly #placements: PlacementMaker
  readonly #draw: Draw
  readonly #sites: ReadonlyMap<string, Site>

  constructor(seed: Seed, stage: Stage, placements: PlacementMaker) {
    this.#seed = seed
    this.#stage = stage
    this.#placements = placements
    this.#draw = seed.draw('requisitions')
    this.#sites = new Map(stage.sites.map(site => [site.id, site]))
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
    const site = this.#sites.get(first.site.id) as Site
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
    const winners = suppliers(draw, [...crew, ...dropouts], opening)
    return {
      ...{ site, trade: first.trade, createdMs, approvals, startMs },
      fate: short > 0 ? 'approved' : 'filled',
      quantity: crew.length + short,
      endMs: Math.max(...crew.map(placement => placement.weeks.at(-1) as number)) + weekMs,
      parties: [...winners, ...this.#bystanders(opening, winners)],
      dropouts: new Set(dropouts),
    }
  }

  #bystanders(opening: Opening, winners: readonly Party[]): Party[] {
    const besides = winners.map(party => party.agency)
    const least = winners.length > 0 ? 0 : 1
    return bystanders(this.#draw, { agencies: this.#stage.agencies, besides, least, opening })
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
    const trade = draw.skewed(allTrades)
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
    return { ...plan, parties: this.#parties(plan, untilMs) }
  }

  #stagesPassed(fate: Fate): number {
    if (fate === 'approved') return 2
    if (fate === 'cancelled') return this.#draw.chance(0.8) ? 2 : 0
    return this.#draw.chance(0.4) ? 1 : 0
  }

  /** A site that is there already, if a few draws find one. */
  #siteBefore(timeMs: number): Site {
    const draw = this.#draw
    const stage = this.#stage
    const latest = iso(timeMs)
    let site = draw.pick(stage.sites)
    for (let draws = 0; draws < siteDraws && site.createdAt >= latest; draws += 1)
      site = draw.pick(stage.sites)
    return site
  }

  #mondayAfter(timeMs: number): number {
    const weeks = Math.floor((timeMs - this.#seed.firstWeekMs) / weekMs) + 1
    return this.#seed.firstWeekMs + weeks * weekMs
  }

  /** Of an open requisition some of the wanted workers may be found already, never all. */
  #parties(plan: Omit<RequisitionPlan, 'parties'>, untilMs: number): Party[] {
    const draw = this.#draw
    const [, approvedMs] = plan.approvals
    if (approvedMs === undefined) return []
    const count = plan.fate === 'approved' ? draw.between(0, Math.min(2, plan.quantity - 1)) : 0
    const found = this.#future(plan, [approvedMs + dayMs, untilMs], count)
    const winners = suppliers(draw, found, [approvedMs, untilMs])
    return [...winners, ...this.#bystanders([approvedMs, untilMs], winners)]
  }

  #future(
    { site, trade, startMs, endMs }: Omit<RequisitionPlan, 'parties'>,
    [fromMs, untilMs]: Opening,
    count: number,
  ): Placement[] {
    const { agencies } = this.#stage
    return Array.from({ length: count }, () => {
      const agency = this.#draw.skewed(agencies, 3)
      const createdMs = this.#draw.time(Math.min(fromMs, untilMs), untilMs)
      return this.#placements.makeFor({ site, trade, agency, createdMs, weeks: weeksOf(startMs, endMs) })
    })
  }
}

export function weeksOf(startMs: number, endMs: number): number[] {
  const count = Math.max(1, Math.round((endMs - startMs) / weekMs))
  return Array.from({ length: count }, (_, index) => startMs + index * weekMs)
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
