/** Decides when to retry a failed request and when to give up. Not a library, because tests use a virtual clock. */
import { dayMs, minuteMs } from '../../lib/dates.ts'
import type { Rng } from '../../lib/rng.ts'
import { httpDate } from '../../lib/service-clock.ts'

/** Max attempts of one request, including the first. */
export const maxAttempts = 6

/** Max attempts of a page without the rows that its total implies: a slip does not happen three times. */
export const hollowAttempts = 3

/** Milliseconds. A longer retry-after ends the run (exit 75) instead of blocking it. */
export const longestWait = 15 * minuteMs

/** Milliseconds. The service's longest limit is that of the day. */
const longestPause = dayMs

const firstDelayMs = 500
const longestDelayMs = 30_000
/** Added, never subtracted, so that programs with the same Retry-After do not return in one burst. */
const retryAfterJitterMs = 1_000
const edgeJitter = 5_000

interface RetryAsk {
  /** How many times the request was sent: 1 after the first failure. */
  readonly attempt: number
  /** True after 429. */
  readonly limited: boolean
  /** The Retry-After header as sent, if any. */
  readonly retryAfter?: string | undefined
  /** The Date header of the answer as sent, if any. */
  readonly date?: string | undefined
  /** Milliseconds since the epoch, used if the answer has no Date. */
  readonly now: number
  readonly rng: Rng
}

/**
 * Milliseconds until the next attempt: the service's retry-after; else after 429 until the next minute begins; else
 * exponential backoff with full jitter. More than `longestWait` means: give up.
 */
export function retryDelay({ attempt, limited, retryAfter, date, now, rng }: RetryAsk): number {
  const answeredAt = httpDate(date)
  const askedMs = retryAfterMs(retryAfter, answeredAt)
  if (askedMs !== undefined) return Math.min(askedMs, longestPause) + Math.floor(rng() * retryAfterJitterMs)
  if (limited) return minuteMs - ((answeredAt ?? now) % minuteMs) + Math.floor(rng() * edgeJitter)
  return Math.floor(rng() * Math.min(longestDelayMs, firstDelayMs * 2 ** (attempt - 1)))
}

/** Measures a date from the Date of its own answer, not by our clock; ignores it if the answer has no Date. */
function retryAfterMs(retryAfter: string | undefined, answeredAt: number | undefined): number | undefined {
  const text = retryAfter?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000
  const wait = (httpDate(text) ?? Number.NaN) - (answeredAt ?? Number.NaN)
  return wait > 0 ? wait : undefined
}

/** Counts requests and retries of a run, and refuses retries beyond a share to prevent retry storms. */
interface RetryBudget {
  /** Call once for every request that is sent, retries included. */
  sent(): void
  /** Takes one retry; false when none is left. */
  spend(): boolean
  readonly retries: number
}

/** Max share of retries among all requests. */
const retryShare = 0.1
/** Retries that are always allowed, so that a short run can retry too. */
const minRetries = 10

export function createRetryBudget(): RetryBudget {
  let requests = 0
  let retries = 0
  return {
    sent: () => {
      requests += 1
    },
    spend: () => {
      if (retries + 1 > Math.max(minRetries, requests * retryShare)) return false
      retries += 1
      return true
    },
    get retries() {
      return retries
    },
  }
}
