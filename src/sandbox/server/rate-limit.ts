/** Requests per minute and per UTC day of each key; a refused request is not counted. */
import { dayMs, minuteMs } from '../../lib/dates.ts'
import type { ContractOptions } from '../options/contract-options.ts'

export interface RateLimits {
  readonly perMinute: number
  readonly perDay: number
}

interface Count {
  day: number
  today: number
  /** Times of the counted requests that can still matter to the minute. */
  recent: number[]
}

export interface Usage {
  readonly requestsToday: number
  readonly remainingToday: number
  readonly resetsAt: string
}

export class RateLimiter {
  readonly #window: ContractOptions['rate-window']
  readonly #counts = new Map<string, Count>()

  constructor(window: ContractOptions['rate-window']) {
    this.#window = window
  }

  /** Counts the request, or returns the milliseconds to wait. */
  take(key: string, limits: RateLimits, nowMs: number): number | undefined {
    const count = this.#countAt(key, nowMs)
    if (count.today >= limits.perDay) return (count.day + 1) * dayMs - nowMs
    const windowStart =
      this.#window === 'fixed' ? Math.floor(nowMs / minuteMs) * minuteMs : nowMs - minuteMs + 1
    count.recent = count.recent.filter(time => time >= windowStart)
    if (count.recent.length >= limits.perMinute) {
      const leaver = count.recent[count.recent.length - limits.perMinute] ?? nowMs
      return (this.#window === 'fixed' ? windowStart : leaver) + minuteMs - nowMs
    }
    count.recent.push(nowMs)
    count.today += 1
    return undefined
  }

  usage(key: string, limits: RateLimits, nowMs: number): Usage {
    const count = this.#countAt(key, nowMs)
    return {
      requestsToday: count.today,
      remainingToday: Math.max(0, limits.perDay - count.today),
      resetsAt: new Date((count.day + 1) * dayMs).toISOString(),
    }
  }

  #countAt(key: string, nowMs: number): Count {
    const day = Math.floor(nowMs / dayMs)
    const known = this.#counts.get(key)
    if (known?.day === day) return known
    const count = { day, today: 0, recent: known?.recent ?? [] }
    this.#counts.set(key, count)
    return count
  }
}
