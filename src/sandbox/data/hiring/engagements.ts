/** What became of each placement: which assignments there are, and how one follows from another. */
import type { Rng } from '../../../lib/rng.ts'
import { DAY_MS, HOUR_MS, WEEK_MS } from '../calendar.ts'
import { between, chance, pick } from '../draw.ts'
import type { Site } from '../master/projects.ts'
import { type Seed, timeBetween } from '../seed.ts'
import type { Placement, PlacementMaker } from '../work/placements.ts'
import { weeksOf } from './requisition-plan.ts'

export type AssignmentStatus = 'pending' | 'confirmed' | 'cancelled' | 'completed' | 'ended'

export interface Engagement {
  readonly placement: Placement
  readonly status: AssignmentStatus
  /** Monday of the first week; of a running assignment the end is planned. */
  readonly startMs: number
  readonly endMs: number
  readonly confirmedMs: number | undefined
  /** When it was completed, ended or cancelled. */
  readonly closedMs: number | undefined
  /** Ended once, and taken up again. */
  readonly reinstatedMs?: number
  readonly reason?: string
  readonly replaces?: Placement
  readonly cloneOf?: Placement
}

const ENDED = 0.18
const REINSTATED = 0.06
const REPLACED = 0.35
const CLONED = 0.05
const endReasons = ['Worker left', 'Work finished early', 'Performance', 'Attendance'] as const

export class EngagementMaker {
  private readonly seed: Seed
  private readonly rng: Rng
  private readonly placements: PlacementMaker
  private readonly sites: ReadonlyMap<string, Site>

  constructor(seed: Seed, placements: PlacementMaker, sites: readonly Site[]) {
    this.seed = seed
    this.rng = seed.rng('engagements')
    this.placements = placements
    this.sites = new Map(sites.map(site => [site.id, site]))
  }

  /** Worked by timesheets: running when the last week of the data is one of its own. */
  worked(placement: Placement): Engagement[] {
    const { rng, seed } = this
    const startMs = placement.weeks[0] as number
    const lastMs = placement.weeks.at(-1) as number
    const confirmedMs = this.confirmation(placement)
    if (lastMs >= seed.lastWeekMs) {
      const endMs = lastMs + between(rng, 2, 16) * WEEK_MS - DAY_MS
      const known = { placement, startMs, confirmedMs, closedMs: undefined }
      const running = { ...known, ...this.reinstatement(startMs), status: 'confirmed' as const, endMs }
      return [
        running,
        ...(chance(rng, CLONED) ? [this.following(placement, { cloneOf: placement }, endMs)] : []),
      ]
    }
    const endMs = lastMs + 6 * DAY_MS
    const closedMs = timeBetween(seed, rng, [endMs + 8 * HOUR_MS, endMs + 2 * DAY_MS])
    const known = { placement, startMs, endMs, confirmedMs, closedMs }
    if (!chance(rng, ENDED)) {
      const clone = chance(rng, CLONED) ? [this.following(placement, { cloneOf: placement }, endMs)] : []
      return [{ ...known, ...this.reinstatement(startMs), status: 'completed' }, ...clone]
    }
    const ended = { ...known, status: 'ended' as const, reason: pick(rng, endReasons) }
    const next = chance(rng, REPLACED) ? [this.following(placement, { replaces: placement }, endMs)] : []
    return [ended, ...next]
  }

  /** For work that has not begun, or never will. */
  wanted(placement: Placement, dropout: boolean): Engagement {
    const startMs = placement.weeks[0] as number
    const endMs = (placement.weeks.at(-1) as number) + 6 * DAY_MS
    if (dropout) return this.calledOff({ placement, startMs, endMs })
    const confirmedMs = chance(this.rng, 0.5) ? this.confirmation(placement) : undefined
    const status = confirmedMs === undefined ? 'pending' : 'confirmed'
    return { placement, status, startMs, endMs, confirmedMs, closedMs: undefined }
  }

  /** At the same place after another one's end; nobody came, where that is past and has no timesheets. */
  private following(
    placement: Placement,
    link: { readonly replaces: Placement } | { readonly cloneOf: Placement },
    endMs: number,
  ): Engagement {
    const startMs = endMs + DAY_MS
    const { agency, trade } = placement
    const site = this.sites.get(placement.site.id) as Site
    const weeks = weeksOf(startMs, startMs + between(this.rng, 2, 12) * WEEK_MS)
    const soonMs = Math.min(endMs, this.seed.endMs - 2 * DAY_MS)
    const createdMs = Math.floor((soonMs - between(this.rng, 0, 4) * HOUR_MS) / 1000) * 1000
    const next = this.placements.makeFor({ site, agency, trade, weeks, createdMs })
    return { ...this.wanted(next, startMs < this.seed.endMs), ...link }
  }

  private calledOff(known: Pick<Engagement, 'placement' | 'startMs' | 'endMs'>): Engagement {
    const { createdMs } = known.placement
    const latestMs = Math.max(createdMs + HOUR_MS, known.startMs)
    const closedMs = timeBetween(this.seed, this.rng, [createdMs, latestMs])
    const reason = pick(this.rng, ['Did not start', 'No longer needed', 'Failed the induction'])
    return { ...known, status: 'cancelled', confirmedMs: undefined, closedMs, reason }
  }

  private confirmation({ createdMs, weeks }: Placement): number {
    const latestMs = Math.min(createdMs + 1.5 * DAY_MS, weeks[0] as number)
    return timeBetween(this.seed, this.rng, [createdMs, Math.max(createdMs + 1, latestMs)])
  }

  private reinstatement(startMs: number): { reinstatedMs?: number } {
    if (!chance(this.rng, REINSTATED)) return {}
    return { reinstatedMs: timeBetween(this.seed, this.rng, [startMs + DAY_MS, startMs + 6 * DAY_MS]) }
  }
}
