/** What every generator needs to know: the seed, the size and the span of time. */
import { namedRng, type Rng } from '../../lib/rng.ts'
import { DAY_MS, lastFullWeek, WEEK_MS } from './calendar.ts'

/** 78 weeks are 18 months. */
export const WEEKS = 78

export interface Seed {
  /** Everything generated is older than this midnight. */
  readonly endMs: number
  /** Monday of the first and of the last of the weeks worked. */
  readonly firstWeekMs: number
  readonly lastWeekMs: number
  /** `openRequisitions` are those that nobody works for: raised, open, cancelled or rejected. */
  readonly counts: Readonly<
    Record<'companies' | 'agencies' | 'projects' | 'sites' | 'timesheets' | 'openRequisitions', number>
  >
  readonly rng: (name: string) => Rng
}

/**
 * Timesheets grow with the scale, what they hang on with its square root: twenty times the work
 * is done on four to five times the projects.
 */
export function seedOf({ seed, scale, today }: { seed: number; scale: number; today: string }): Seed {
  const endMs = Date.parse(`${today}T00:00:00.000Z`)
  const lastWeekMs = lastFullWeek(endMs)
  const mild = (count: number) => Math.max(1, Math.round(count * Math.sqrt(scale)))
  return {
    endMs,
    firstWeekMs: lastWeekMs - (WEEKS - 1) * WEEK_MS,
    lastWeekMs,
    counts: {
      companies: mild(3),
      agencies: mild(25),
      projects: mild(60),
      sites: mild(150),
      timesheets: Math.max(1, Math.round(5000 * scale)),
      openRequisitions: Math.max(2, Math.round(130 * scale)),
    },
    rng: name => namedRng(seed, name),
  }
}

/** A time from `low` up to `high`, never after the end of the data. */
export function timeBetween(seed: Seed, rng: Rng, [low, high]: readonly [number, number]): number {
  const last = Math.min(high, seed.endMs - 1)
  return Math.floor(low + rng() * Math.max(0, last - low))
}

/** When a lasting record (a project, a user) was last edited: somewhere in the 18 months. */
export function editTime(seed: Seed, rng: Rng, createdMs: number): number {
  return timeBetween(seed, rng, [Math.max(createdMs, seed.firstWeekMs), seed.endMs - DAY_MS / 2])
}
