/** The requests of one UTC day on one key: how many are left, and how many are reserved for which purpose. */
import { dayMs, minuteMs, startOfUtcDay } from '../../lib/dates.ts'
import { defaultPerDay, type KeyInfo } from '../client/key.ts'

/** Why a request is made; the last three have a reserve of the day that the others may not use. */
export type Purpose = 'sync' | 'reconcile' | 'webhook' | 'operator'

/** Shares of rateLimitPerDay. Without them a long backfill at 01:00 would leave webhooks unanswered until midnight. */
export const reserves = { webhook: 0.1, reconcile: 0.1, operator: 0.05 }
const reserved = ['webhook', 'reconcile', 'operator'] as const

/** What a sync may spend of a whole day: all requests but the reserves. */
export function spendablePerDay(perDay: number): number {
  return reserved.reduce((left, purpose) => left - Math.floor(perDay * reserves[purpose]), perDay)
}

/** Used when resetsAt has passed already: the clocks differ, and the day may end at any moment. */
const soonMs = 15 * minuteMs

/** What earlier processes on the key have left behind. */
export interface EarlierToday {
  /** Requests of the UTC day, other than those for events. */
  readonly usedToday?: number | undefined
  /** Requests of the UTC day for events. */
  readonly eventsToday?: number | undefined
  /** The limit of a day as it was last reported. */
  readonly perDay?: number | undefined
}

/** Every method takes the time, in ms since the epoch, and starts a new day when the old one is over. */
export class DayBudget {
  #perDay: number
  #usedFor: Record<Purpose, number>
  /** Requests of today by earlier processes. */
  #usedBefore = 0
  /** The same, until the limit is known: compared with the default limit they could forbid the `/me` that tells it. */
  #notCounted: number
  /** What the service reported as left, less our own requests since then. Infinite before the first report. */
  #told = Number.POSITIVE_INFINITY
  #resetsAt: number

  constructor(now: number, { usedToday = 0, eventsToday = 0, perDay = defaultPerDay }: EarlierToday) {
    this.#perDay = perDay
    this.#usedFor = { sync: 0, reconcile: 0, webhook: eventsToday, operator: 0 }
    this.#notCounted = usedToday
    this.#resetsAt = startOfUtcDay(now, 1)
  }

  spend(purpose: Purpose, now: number): void {
    this.#roll(now)
    this.#usedFor[purpose] += 1
    this.#told -= 1
  }

  /**
   * Takes over an answer of `/me`. `since` is how many requests were sent since `/me` was asked for: the service may
   * not have counted them yet, so they are subtracted.
   */
  refresh(me: Pick<KeyInfo, 'rateLimitPerDay' | 'usage'>, since: number, now: number): void {
    this.#roll(now)
    this.#perDay = me.rateLimitPerDay
    this.#usedBefore += this.#notCounted
    this.#notCounted = 0
    const { requestsToday, remainingToday, resetsAt } = me.usage
    const left = remainingToday ?? (requestsToday === undefined ? undefined : this.#perDay - requestsToday)
    if (left !== undefined) this.#told = left - since
    this.#resetsAt = resetMoment(resetsAt, now)
  }

  /** Requests left for this purpose, without the reserves of the others; never negative. The share of events is a ceiling. */
  left(purpose: Purpose, now: number): number {
    // First: it begins a new day, on which the reserves are whole again.
    const remaining = this.remaining(now)
    const kept = reserved
      .filter(other => other !== purpose)
      .reduce((sum, other) => sum + this.#reserve(other), 0)
    const left = Math.max(0, remaining - kept)
    return purpose === 'webhook' ? Math.min(left, this.#reserve('webhook')) : left
  }

  /** Requests left in all: the lower of our own count and the service's. */
  remaining(now: number): number {
    this.#roll(now)
    return Math.max(0, Math.min(this.#perDay - this.#ownUsed(), this.#told))
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

  /** What is left of a reserve, which its own purpose uses up first. */
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
    this.#told = Number.POSITIVE_INFINITY
    this.#resetsAt = startOfUtcDay(now, 1)
  }
}

/** `resetsAt` when it is plausible, else midnight UTC, when the count starts again according to the contract. */
function resetMoment(resetsAt: string | undefined, now: number): number {
  const told = Date.parse(resetsAt ?? '')
  if (Number.isNaN(told) || told > now + 2 * dayMs) return startOfUtcDay(now, 1)
  return told > now ? told : now + soonMs
}
