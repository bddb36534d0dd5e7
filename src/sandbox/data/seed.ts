/** What every generator needs to know: the seed, the size and the span of time. */
import { dayMs, weekMs } from '../../lib/dates.ts'
import { namedRng } from '../../lib/rng.ts'
import { lastFullWeek } from './calendar.ts'
import { Draw } from './draw.ts'
import { iso } from './identity.ts'

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
  /** Monday of the first and of the last of the weeks worked. */
  readonly firstWeekMs: number
  readonly lastWeekMs: number
  /** `openRequisitions` are those that nobody works for: raised, open, cancelled or rejected. */
  readonly counts: Readonly<
    Record<'companies' | 'agencies' | 'projects' | 'sites' | 'timesheets' | 'openRequisitions', number>
  >
  /** A random stream of its own for each name: one more draw from one does not change the others. */
  readonly draw: (name: string) => Draw
}

/**
 * Timesheets grow with the scale, what they hang on with its square root: twenty times the work
 * is done on four to five times the projects.
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

/** The times of a lasting record (a project, a user): last edited somewhere in the 18 months. */
export function editedSince(seed: Seed, draw: Draw, createdMs: number) {
  const editedMs = draw.time(Math.max(createdMs, seed.firstWeekMs), seed.endMs - dayMs / 2)
  return { createdAt: iso(createdMs), updatedAt: iso(editedMs) }
}
