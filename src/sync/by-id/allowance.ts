/** How many requests a run may spend on records read by id, after its lists. */
import { type Purpose, spendablePerDay } from '../../api/budget/day.ts'
import { lastSyncStart } from '../../state/runs/runs.ts'
import type { SyncContext } from '../run/context.ts'

export interface DaySoFar {
  /** Requests that this run may still send, after reserves and its own limit. */
  readonly spendable: number
  /** Requests that may still be sent today, after reserves. */
  readonly spendableToday: number
  readonly spendablePerDay: number
  /** Milliseconds until the service resets its count. */
  readonly untilReset: number
  /** Milliseconds since the last sync began; null for the first. */
  readonly sinceLast: number | null
  /** Requests of this run for its lists. */
  readonly listRequests: number
}

export interface Allowance {
  readonly inAll: number
  /** Of these, requests for stored records. */
  readonly refresh: number
}

/** Kept for the lists of later runs of a day before anything is known of them, as a share of a day. */
const firstKeep = 0.05
/** However often a sync runs, its lists keep no more of the rest of the day. */
const greatestKeep = 0.5

/** Runs before the next reset, if they come as often as so far. */
const runsLeft = ({ untilReset, sinceLast }: DaySoFar): number =>
  sinceLast === null || sinceLast <= 0 ? 1 : Math.floor(untilReset / sinceLast)

/**
 * Lists come first: the later runs of today keep the requests that the lists of this run took. Records never fetched may use
 * all the rest. Stored records are refreshed at the rate that spreads the rest over the day.
 */
export function allowanceOf(day: DaySoFar): Allowance {
  const wanted = day.sinceLast === null ? day.spendablePerDay * firstKeep : day.listRequests * runsLeft(day)
  const kept = Math.min(wanted, day.spendableToday * greatestKeep)
  const inAll = Math.max(0, Math.floor(Math.min(day.spendable, day.spendableToday - kept)))
  const share =
    day.sinceLast === null || day.untilReset <= 0 ? 1 : Math.min(1, day.sinceLast / day.untilReset)
  return { inAll, refresh: Math.min(inAll, Math.ceil(day.spendableToday * share)) }
}

/** Other purposes than a sync have a budget of their own, which the client enforces. */
export async function allowance(sync: SyncContext, purpose: Purpose): Promise<Allowance> {
  if (purpose !== 'sync') return { inAll: Number.POSITIVE_INFINITY, refresh: Number.POSITIVE_INFINITY }
  const { spendable, spendableToday, perDay, resetsAt, requestsThisRun } = sync.client.usage()
  const now = sync.clock.now()
  const last = await lastSyncStart(sync.engine, sync.runId)
  // A start ahead of now, by a clock that was wrong, tells no interval.
  const since = last === undefined || Date.parse(last) > now ? null : now - Date.parse(last)
  return allowanceOf({
    spendable,
    spendableToday,
    spendablePerDay: spendablePerDay(perDay),
    untilReset: Date.parse(resetsAt) - now,
    sinceLast: since,
    listRequests: requestsThisRun,
  })
}
