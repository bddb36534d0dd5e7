/** Requests per minute and per UTC day of each key; a refused request is not counted. */
import type { ContractOptions } from '../options/contract-options.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

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
  private readonly window: ContractOptions['rate-window']
  private readonly counts = new Map<string, Count>()

  constructor(window: ContractOptions['rate-window']) {
    this.window = window
  }

  /** Counts the request, or gives the milliseconds after which it would be counted. */
  take(key: string, limits: RateLimits, nowMs: number): number | undefined {
    const count = this.countAt(key, nowMs)
    if (count.today >= limits.perDay) return (count.day + 1) * DAY_MS - nowMs
    const windowStart =
      this.window === 'fixed' ? Math.floor(nowMs / MINUTE_MS) * MINUTE_MS : nowMs - MINUTE_MS + 1
    count.recent = count.recent.filter(time => time >= windowStart)
    if (count.recent.length >= limits.perMinute) {
      const leaver = count.recent[count.recent.length - limits.perMinute] ?? nowMs
      return (this.window === 'fixed' ? windowStart : leaver) + MINUTE_MS - nowMs
    }
    count.recent.push(nowMs)
    count.today += 1
    return undefined
  }

  usage(key: string, limits: RateLimits, nowMs: number): Usage {
    const count = this.countAt(key, nowMs)
    return {
      requestsToday: count.today,
      remainingToday: Math.max(0, limits.perDay - count.today),
      resetsAt: new Date((count.day + 1) * DAY_MS).toISOString(),
    }
  }

  private countAt(key: string, nowMs: number): Count {
    const day = Math.floor(nowMs / DAY_MS)
    const known = this.counts.get(key)
    if (known?.day === day) return known
    const count = { day, today: 0, recent: known?.recent ?? [] }
    this.counts.set(key, count)
    return count
  }
}
