/** How many requests a run may spend on records that are read by id, after its lists. */

export interface DaySoFar {
  /** What this run may still send, reserves and its own limit taken off. */
  readonly spendable: number
  /** What may still be sent today, reserves taken off. */
  readonly spendableToday: number
  readonly spendablePerDay: number
  /** Milliseconds until the count starts anew. */
  readonly untilReset: number
  /** Milliseconds since the last sync began; null for the first. */
  readonly sinceLast: number | null
  /** What the lists of this run cost. */
  readonly listRequests: number
}

export interface Allowance {
  /** For ids that were never read, and those to be tried again. */
  readonly unseen: number
  /** For records that are held, out of the same requests. */
  readonly refresh: number
}

/** Kept for the lists of later runs of a day of which nothing is known yet, as a share of a day. */
const firstKeep = 0.05
/** However often a sync runs, its lists keep no more of the rest of the day. */
const greatestKeep = 0.5

/** Runs that are to come before the count starts anew, if they come as they came. */
const runsLeft = ({ untilReset, sinceLast }: DaySoFar): number =>
  sinceLast === null || sinceLast <= 0 ? 1 : Math.floor(untilReset / sinceLast)

/**
 * Lists come first: the lists of the runs to come today keep what those of this run cost. What was never read takes the
 * rest; what is held is read again at the pace that spreads the rest over the day.
 */
export function allowanceOf(day: DaySoFar): Allowance {
  const wanted = day.sinceLast === null ? day.spendablePerDay * firstKeep : day.listRequests * runsLeft(day)
  const kept = Math.min(wanted, day.spendableToday * greatestKeep)
  const unseen = Math.max(0, Math.floor(Math.min(day.spendable, day.spendableToday - kept)))
  const pace = day.sinceLast === null || day.untilReset <= 0 ? 1 : Math.min(1, day.sinceLast / day.untilReset)
  return { unseen, refresh: Math.min(unseen, Math.ceil(day.spendableToday * pace)) }
}
