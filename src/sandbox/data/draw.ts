/** Draws from the random streams of a seed. All generated data is a function of the seed, its counts and its span of time. */
import { dayMs, weekMs } from '../../lib/dates.ts'
import { namedRng, type Rng } from '../../lib/rng.ts'
import { lastFullWeek } from './calendar.ts'
import { iso, reference } from './identity.ts'

export class Draw {
  /** A number in [0, 1). */
  readonly fraction: Rng
  readonly #endMs: number
  readonly #numbers = new Map<string, number>()

  /** No time is drawn at or after `endMs`. */
  constructor(rng: Rng, endMs = Infinity) {
    this.fraction = rng
    this.#endMs = endMs
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.fraction() * list.length)] as T
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1))
  }

  chance(share: number): boolean {
    return this.fraction() < share
  }

  weighted<T>(options: readonly (readonly [T, number])[]): T {
    let left = this.fraction() * options.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [value, weight] of options) {
      left -= weight
      if (left < 0) return value
    }
    return (options.at(-1) as readonly [T, number])[0]
  }

  /** Draws the first members of a list far more often than the last; a greater skew increases the difference. */
  skewed<T>(list: readonly T[], skew = 2): T {
    return list[Math.floor(this.fraction() ** skew * list.length)] as T
  }

  digits(length: number): string {
    return this.times(length, () => this.between(0, 9)).join('')
  }

  /** 24 hex digits of which the first 8 are the second of creation. */
  id(createdMs: number): string {
    const parts = [createdMs / 1000, this.fraction() * 2 ** 32, this.fraction() * 2 ** 32]
    return parts.map(part => Math.floor(part).toString(16).padStart(8, '0')).join('')
  }

  /** The next reference with this prefix, counted from 1. */
  reference(prefix: string): string {
    const number = (this.#numbers.get(prefix) ?? 0) + 1
    this.#numbers.set(prefix, number)
    return reference(prefix, number)
  }

  times<T>(count: number, make: (index: number) => T): T[] {
    return Array.from({ length: count }, (_, index) => make(index))
  }

  /** A time from `low` up to `high`, both in milliseconds. */
  time(low: number, high: number): number {
    const last = Math.min(high, this.#endMs - 1)
    return Math.floor(low + this.fraction() * Math.max(0, last - low))
  }
}

/** 78 weeks are 18 months. */
export const weekCount = 78

export interface Size {
  readonly seed: number
  readonly scale: number
  /** YYYY-MM-DD. */
  readonly today: string
}

export interface Seed {
  /** Everything generated is older than this midnight. */
  readonly endMs: number
  /** Mondays of the first and of the last week worked. */
  readonly firstWeekMs: number
  readonly lastWeekMs: number
  /** `openRequisitions` have no work done: they are raised, open, cancelled or rejected. */
  readonly counts: Readonly<
    Record<'companies' | 'agencies' | 'projects' | 'sites' | 'timesheets' | 'openRequisitions', number>
  >
  /** One random stream per name: one more draw from one does not change the others. */
  readonly draw: (name: string) => Draw
}

/**
 * Timesheets grow with the scale, companies, projects and sites with its square root: twenty times
 * the work is done on four to five times the projects.
 */
export function seedOf({ seed, scale, today }: Size): Seed {
  const endMs = Date.parse(`${today}T00:00:00.000Z`)
  const lastWeekMs = lastFullWeek(endMs)
  const mild = (count: number) => Math.max(1, Math.round(count * Math.sqrt(scale)))
  return {
    endMs,
    firstWeekMs: lastWeekMs - (weekCount - 1) * weekMs,
    lastWeekMs,
    counts: {
      companies: mild(3),
      agencies: mild(25),
      projects: mild(60),
      sites: mild(150),
      timesheets: Math.max(1, Math.round(5000 * scale)),
      openRequisitions: Math.max(2, Math.round(130 * scale)),
    },
    draw: name => new Draw(namedRng(seed, name), endMs),
  }
}

/** Times of a lasting record (a project, a user), last edited at some time in the 18 months. */
export function editedSince(seed: Seed, draw: Draw, createdMs: number) {
  const editedMs = draw.time(Math.max(createdMs, seed.firstWeekMs), seed.endMs - dayMs / 2)
  return { createdAt: iso(createdMs), updatedAt: iso(editedMs) }
}
