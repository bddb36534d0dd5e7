/** Counts the requests of one UTC day on one key: how many are left, and how many are reserved for each purpose. */
import { dayMs, minuteMs, startOfUtcDay } from '../../lib/dates.ts'
import { defaultPerDay, type KeyInfo } from '../client/key.ts'

/** Why a request is sent; the last three have a reserve of the day that other purposes may not use. */
export type Purpose = 'sync' | 'reconcile' | 'webhook' | 'operator'

/** Shares of rateLimitPerDay. Without them a long backfill at 01:00 would leave webhooks unanswered until midnight. */
export const reserves = { webhook: 0.1, reconcile: 0.1, operator: 0.05 }
const reserved = ['webhook', 'reconcile', 'operator'] as const

/** Requests of a full day that a sync may send: all except the reserves. */
export function spendablePerDay(perDay: number): number {
  return reserved.reduce((left, purpose) => left - Math.floor(perDay * reserves[purpose]), perDay)
}

/** Used if resetsAt has already passed: the clocks differ, and the day may end any time. */
const soonMs = 15 * minuteMs

/** Usage recorded by earlier processes on the key. */
export interface PreviousUsage {
  /** Requests of the UTC day, except for events. */
  readonly usedToday?: number | undefined
  /** Requests of the UTC day for events. */
  readonly eventsToday?: number | undefined
  /** The limit of a day, as last reported. */
  readonly perDay?: number | undefined
}

/** Every method takes the time in milliseconds since the epoch, and starts a new day when the old one is over. */
export class DayBudget {
  #perDay: number
  #usedFor: Record<Purpose, number>
  /** Requests of today by earlier processes. */
  #usedBefore = 0
  /** The same, until the limit is known: against the default limit they could block the `/me` that reports the real one. */
  #notCounted: number
  /** Requests left by the last report, minus our own since then. Infinite before the first report. */
  #reportedLeft = Number.POSITIVE_INFINITY
  #resetsAt: number

  constructor(now: number, { usedToday = 0, eventsToday = 0, perDay = defaultPerDay }: PreviousUsage) {
    this.#perDay = perDay
    this.#usedFor = { sync: 0, reconcile: 0, webhook: eventsToday, operator: 0 }
    this.#notCounted = usedToday
    this.#resetsAt = startOfUtcDay(now, 1)
  }

  spend(purpose: Purpose, now: number): void {
    this.#roll(now)
    this.#usedFor[purpose] += 1
    this.#reportedLeft -= 1
  }

  /**
   * Applies an answer of `/me`. `since` is the number of requests sent since `/me` was requested: the service may not have
   * counted them yet, so they are subtracted.
   */
  refresh(me: Pick<KeyInfo, 'rateLimitPerDay' | 'usage'>, since: number, now: number): void {
    this.#roll(now)
    this.#perDay = me.rateLimitPerDay
    this.#usedBefore += this.#notCounted
    this.#notCounted = 0
    const { requestsToday, remainingToday, resetsAt } = me.usage
    const left = remainingToday ?? (requestsToday === undefined ? undefined : this.#perDay - requestsToday)
    if (left !== undefined) this.#reportedLeft = left - since
    this.#resetsAt = resetTime(resetsAt, now)
  }

  /** Requests left for this purpose, without the reserves of others; never negative. For events their share is the max. */
  left(purpose: Purpose, now: number): number {
    // First, as it may start a new day with full reserves.
    const remaining = this.remaining(now)
    const reservedForOthers = reserved
      .filter(other => other !== purpose)
      .reduce((sum, other) => sum + this.#reserve(other), 0)
    const left = Math.max(0, remaining - reservedForOthers)
    return purpose === 'webhook' ? Math.min(left, this.#reserve('webhook')) : left
  }

  /** Requests left in total: the lower of our own count and the service's. */
  remaining(now: number): number {
    this.#roll(now)
    return Math.max(0, Math.min(this.#perDay - this.#ownUsed(), this.#reportedLeft))
  }

  get perDay(): number {
    return this.#perDay
  }

  /** Requests of this day for events. */
  get forEvents(): number {
    return this.#usedFor.webhook
  }

  /** Milliseconds since the epoch. */
  get resetsAt(): number {
    return this.#resetsAt
  }

  /** Requests left of a reserve; its own purpose uses it first. */
  #reserve(purpose: (typeof reserved)[number]): number {
    return Math.max(0, Math.floor(this.#perDay * reserves[purpose]) - this.#usedFor[purpose])
  }

  #ownUsed(): number {
    const { sync, reconcile, webhook, operator } = this.#usedFor
    return this.#usedBefore + sync + reconcile + webhook + operator
  }

  #roll(now: number): void {
    if (now < this.#resetsAt) return
    this.#usedFor = { sync: 0, reconcile: 0, webhook: 0, operator: 0 }
    this.#usedBefore = 0
    this.#notCounted = 0
    this.#reportedLeft = Number.POSITIVE_INFINITY
    this.#resetsAt = startOfUtcDay(now, 1)
  }
}

/** `resetsAt` if plausible, else midnight UTC, when the contract says that the count restarts. */
function resetTime(resetsAt: string | undefined, now: number): number {
  const resetAt = Date.parse(resetsAt ?? '')
  if (Number.isNaN(resetAt) || resetAt > now + 2 * dayMs) return startOfUtcDay(now, 1)
  return resetAt > now ? resetAt : now + soonMs
}

/**
 * Max requests of a UTC day for reads caused by events. Limits what events cost, as the sender decides how many there are.
 */
export const eventsPerDay = (perDay: number): number => Math.floor(perDay * reserves.webhook)

/** Min requests of a read: one goes to `/me`, so with fewer it would read next to nothing. */
const minPerRead = 10

/**
 * Max requests of one read, if `left` of the share of the day are left: half of them, so that no read uses up the day, and
 * half again for each previous read in a row that found few of its records.
 */
export function readLimit(left: number, emptyReads: number): number {
  const half = Math.floor(left / 2 ** (1 + emptyReads))
  return Math.max(0, Math.min(left, Math.max(minPerRead, half)))
}
