/** Limits how many requests a run may spend on records read by id, after its lists. */
import { type Purpose, spendablePerDay } from '../../api/budget/day.ts'
import { lastSyncStart } from '../../state/runs/runs.ts'
import type { SyncContext } from '../run/context.ts'

export interface DayBudgetState {
  /** Requests that this run may still send, after reserves and its own limit. */
  readonly spendable: number
  /** Requests that may still be sent today, after reserves. */
  readonly spendableToday: number
  readonly spendablePerDay: number
  /** Milliseconds until the service resets its count. */
  readonly untilReset: number
  /** Milliseconds since the last sync began; null for the first. */
  readonly sinceLast: number | null
  /** Requests that this run has sent for its lists. */
  readonly listRequests: number
}

export interface Allowance {
  readonly inAll: number
  /** Requests for stored records among them. */
  readonly refresh: number
}

/** Share of a day reserved for the lists of later runs, while nothing is known about these. */
const firstReserve = 0.05
/** However often a sync runs, its lists reserve at most this share of the rest of the day. */
const maxReserve = 0.5

/** Runs left before the next reset, at the interval so far. */
const runsLeft = (untilReset: number, sinceLast: number): number =>
  sinceLast <= 0 ? 1 : Math.floor(untilReset / sinceLast)

/**
 * Lists come first: for each later run of today, reserves as many requests as this run's lists took. Records never
 * fetched may use all the rest. Stored records are refreshed at a rate that spreads the rest over the day.
 */
export function allowanceOf(day: DayBudgetState): Allowance {
  const { sinceLast, untilReset } = day
  const wanted =
    sinceLast === null
      ? day.spendablePerDay * firstReserve
      : day.listRequests * runsLeft(untilReset, sinceLast)
  const reserved = Math.min(wanted, day.spendableToday * maxReserve)
  const inAll = Math.max(0, Math.floor(Math.min(day.spendable, day.spendableToday - reserved)))
  const share = sinceLast === null || untilReset <= 0 ? 1 : Math.min(1, sinceLast / untilReset)
  return { inAll, refresh: Math.min(inAll, Math.ceil(day.spendableToday * share)) }
}

/** Purposes other than a sync have their own budget, which the client enforces. */
export async function allowance(sync: SyncContext, purpose: Purpose): Promise<Allowance> {
  if (purpose !== 'sync') return { inAll: Number.POSITIVE_INFINITY, refresh: Number.POSITIVE_INFINITY }
  const { spendable, spendableToday, perDay, resetsAt, requestsThisRun } = sync.client.usage()
  const now = sync.clock.now()
  const last = await lastSyncStart(sync.engine, sync.runId)
  // A start in the future, by a wrong clock, gives no interval.
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
