/** The seed of the data: its random streams, its counts and its span of time. */
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
