/** Engagements: the outcome of each placement, and the replacements and clones that follow it. */
import { dayMs, hourMs, weekMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import type { MasterData } from '../master/master-data.ts'
import type { Seed } from '../seed.ts'
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
  /** When it was taken up again after it was ended by mistake. */
  readonly reinstatedMs?: number
  readonly reason?: string
  readonly replaces?: Placement
  readonly cloneOf?: Placement
}

const endedShare = 0.18
const reinstated = 0.06
const replaced = 0.35
const cloned = 0.05
const endReasons = ['Worker left', 'Work finished early', 'Performance', 'Attendance'] as const

export class EngagementMaker {
  readonly #seed: Seed
  readonly #draw: Draw
  readonly #placements: PlacementMaker
  readonly #master: MasterData

  constructor(seed: Seed, master: MasterData, placements: PlacementMaker) {
    this.#seed = seed
    this.#draw = seed.draw('engagements')
    this.#placements = placements
    this.#master = master
  }

  /** With timesheets. It is still running if it includes the last week of the data. */
  worked(placement: Placement): Engagement[] {
    const draw = this.#draw
    const seed = this.#seed
    const startMs = placement.weeks[0] as number
    const lastMs = placement.weeks.at(-1) as number
    const confirmedMs = this.#confirmation(placement)
    if (lastMs >= seed.lastWeekMs) {
      const endMs = lastMs + draw.between(2, 16) * weekMs - dayMs
      const known = { placement, startMs, confirmedMs, closedMs: undefined }
      const running = { ...known, ...this.#reinstatement(startMs), status: 'confirmed' as const, endMs }
      return [
        running,
        ...(draw.chance(cloned) ? [this.#following(placement, { cloneOf: placement }, endMs)] : []),
      ]
    }
    const endMs = lastMs + 6 * dayMs
    const closedMs = draw.time(endMs + 8 * hourMs, endMs + 2 * dayMs)
    const known = { placement, startMs, endMs, confirmedMs, closedMs }
    if (!draw.chance(endedShare)) {
      const clone = draw.chance(cloned) ? [this.#following(placement, { cloneOf: placement }, endMs)] : []
      return [{ ...known, ...this.#reinstatement(startMs), status: 'completed' }, ...clone]
    }
    const ended = { ...known, status: 'ended' as const, reason: draw.pick(endReasons) }
    const next = draw.chance(replaced) ? [this.#following(placement, { replaces: placement }, endMs)] : []
    return [ended, ...next]
  }

  /** Without timesheets: not begun, or called off. */
  wanted(placement: Placement, dropout: boolean): Engagement {
    const startMs = placement.weeks[0] as number
    const endMs = (placement.weeks.at(-1) as number) + 6 * dayMs
    if (dropout) return this.#calledOff({ placement, startMs, endMs })
    const confirmedMs = this.#draw.chance(0.5) ? this.#confirmation(placement) : undefined
    const status = confirmedMs === undefined ? 'pending' : 'confirmed'
    return { placement, status, startMs, endMs, confirmedMs, closedMs: undefined }
  }

  /** At the same site after another ended. It has no timesheets, so it is called off if its start is past. */
  #following(
    placement: Placement,
    link: { readonly replaces: Placement } | { readonly cloneOf: Placement },
    endMs: number,
  ): Engagement {
    const startMs = endMs + dayMs
    const { agency, trade } = placement
    const site = this.#master.site(placement.site.id)
    const weeks = weeksOf(startMs, startMs + this.#draw.between(2, 12) * weekMs)
    const soonMs = Math.min(endMs, this.#seed.endMs - 2 * dayMs)
    const createdMs = Math.floor((soonMs - this.#draw.between(0, 4) * hourMs) / 1000) * 1000
    const next = this.#placements.makeFor({ site, agency, trade, weeks, createdMs })
    return { ...this.wanted(next, startMs < this.#seed.endMs), ...link }
  }

  #calledOff(known: Pick<Engagement, 'placement' | 'startMs' | 'endMs'>): Engagement {
    const { createdMs } = known.placement
    const latestMs = Math.max(createdMs + hourMs, known.startMs)
    const closedMs = this.#draw.time(createdMs, latestMs)
    const reason = this.#draw.pick(['Did not start', 'No longer needed', 'Failed the induction'])
    return { ...known, status: 'cancelled', confirmedMs: undefined, closedMs, reason }
  }

  #confirmation({ createdMs, weeks }: Placement): number {
    const latestMs = Math.min(createdMs + 1.5 * dayMs, weeks[0] as number)
    return this.#draw.time(createdMs, Math.max(createdMs + 1, latestMs))
  }

  #reinstatement(startMs: number): { reinstatedMs?: number } {
    if (!this.#draw.chance(reinstated)) return {}
    return { reinstatedMs: this.#draw.time(startMs + dayMs, startMs + 6 * dayMs) }
  }
}
