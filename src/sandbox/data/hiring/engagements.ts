/** Generates engagements: the outcome of each placement, and the replacements and clones that follow it. */
import { dayMs, hourMs, weekMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import type { RecordMaking } from '../master/master-data.ts'
import { type Placement, placementFor, weeksOf } from '../work/placements.ts'

type AssignmentStatus = 'pending' | 'confirmed' | 'cancelled' | 'completed' | 'ended'

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

/** Inputs for engagements, with further inputs to make placements from a separate random stream. */
export interface EngagementMaking extends RecordMaking {
  readonly placements: RecordMaking
}

/** An engagement with timesheets, and what follows it. It is still running if it includes the last week of the data. */
export function engagementsOf(making: EngagementMaking, placement: Placement): Engagement[] {
  const { draw, seed } = making
  const startMs = placement.weeks[0] as number
  const lastMs = placement.weeks.at(-1) as number
  const confirmedMs = confirmation(draw, placement)
  const clones = (endMs: number) =>
    draw.chance(cloned) ? [following(making, placement, { cloneOf: placement, endMs })] : []
  if (lastMs >= seed.lastWeekMs) {
    const endMs = lastMs + draw.between(2, 16) * weekMs - dayMs
    const known = { placement, startMs, endMs, confirmedMs, closedMs: undefined }
    return [{ ...known, ...reinstatement(draw, startMs), status: 'confirmed' }, ...clones(endMs)]
  }
  const endMs = lastMs + 6 * dayMs
  const closedMs = draw.time(endMs + 8 * hourMs, endMs + 2 * dayMs)
  const known = { placement, startMs, endMs, confirmedMs, closedMs }
  if (!draw.chance(endedShare)) {
    const next = clones(endMs)
    return [{ ...known, ...reinstatement(draw, startMs), status: 'completed' }, ...next]
  }
  const ended = { ...known, status: 'ended' as const, reason: draw.pick(endReasons) }
  const next = draw.chance(replaced) ? [following(making, placement, { replaces: placement, endMs })] : []
  return [ended, ...next]
}

/** An engagement without timesheets: not begun, or called off. */
export function unworked(draw: Draw, placement: Placement, isCalledOff: boolean): Engagement {
  const startMs = placement.weeks[0] as number
  const endMs = (placement.weeks.at(-1) as number) + 6 * dayMs
  const known = { placement, startMs, endMs }
  if (isCalledOff) {
    const { createdMs } = placement
    const closedMs = draw.time(createdMs, Math.max(createdMs + hourMs, startMs))
    const reason = draw.pick(['Did not start', 'No longer needed', 'Failed the induction'])
    return { ...known, status: 'cancelled', confirmedMs: undefined, closedMs, reason }
  }
  const confirmedMs = draw.chance(0.5) ? confirmation(draw, placement) : undefined
  const status = confirmedMs === undefined ? 'pending' : 'confirmed'
  return { ...known, status, confirmedMs, closedMs: undefined }
}

/** An engagement at the same site after another ended. It has no timesheets, so it is called off if its start is past. */
function following(
  { draw, seed, master, placements }: EngagementMaking,
  { agency, trade, site: { id } }: Placement,
  { endMs, ...link }: { readonly endMs: number } & Pick<Engagement, 'replaces' | 'cloneOf'>,
): Engagement {
  const startMs = endMs + dayMs
  const weeks = weeksOf(startMs, startMs + draw.between(2, 12) * weekMs)
  const soonMs = Math.min(endMs, seed.endMs - 2 * dayMs)
  const createdMs = Math.floor((soonMs - draw.between(0, 4) * hourMs) / 1000) * 1000
  const next = placementFor(placements, { site: master.site(id), agency, trade, weeks, createdMs })
  return { ...unworked(draw, next, startMs < seed.endMs), ...link }
}

function confirmation(draw: Draw, { createdMs, weeks }: Placement): number {
  const latestMs = Math.min(createdMs + 1.5 * dayMs, weeks[0] as number)
  return draw.time(createdMs, Math.max(createdMs + 1, latestMs))
}

function reinstatement(draw: Draw, startMs: number): { reinstatedMs?: number } {
  if (!draw.chance(reinstated)) return {}
  return { reinstatedMs: draw.time(startMs + dayMs, startMs + 6 * dayMs) }
}
