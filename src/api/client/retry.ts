/** When a failed request is sent again, and when it is given up. Ours, because it must follow a virtual clock in tests. */
import { dayMs } from '../../lib/dates.ts'
import type { Rng } from '../../lib/rng.ts'
import { httpDate } from '../../lib/time/service-clock.ts'

/** Attempts of one request, the first included. */
export const mostAttempts = 6

/** Attempts of a page that comes without the rows that its total promises: a slip does not come three times. */
export const hollowAttempts = 3

/** Milliseconds. A service that asks for a longer pause ends the run (exit 75) instead of blocking it. */
export const longestWait = 15 * 60_000

/** Milliseconds. No limit of the service lasts longer than its day. */
const longestPause = dayMs

const firstDelayMs = 500
const longestDelayMs = 30_000
const minuteMs = 60_000
/** Added only, so that programs that got the same Retry-After do not return in one burst. */
const toldJitter = 1_000
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
  /** Milliseconds since the epoch, where the answer does not say it. */
  readonly now: number
  readonly rng: Rng
}

/**
 * Milliseconds until the next attempt: as the service says; else after 429 until the next minute begins; else
 * exponential with full jitter. More than `longestWait` means: give up.
 */
export function retryDelay({ attempt, limited, retryAfter, date, now, rng }: RetryAsk): number {
  const answeredAt = httpDate(date)
  const told = toldWait(retryAfter, answeredAt)
  if (told !== undefined) return Math.min(told, longestPause) + Math.floor(rng() * toldJitter)
  if (limited) return minuteMs - ((answeredAt ?? now) % minuteMs) + Math.floor(rng() * edgeJitter)
  return Math.floor(rng() * Math.min(longestDelayMs, firstDelayMs * 2 ** (attempt - 1)))
}

/** A date is after the Date of its own answer, whatever our clock says; an answer without one has no clock. */
function toldWait(retryAfter: string | undefined, answeredAt: number | undefined): number | undefined {
  const text = retryAfter?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000
  const wait = (httpDate(text) ?? Number.NaN) - (answeredAt ?? Number.NaN)
  return wait > 0 ? wait : undefined
}

/** Counts requests and retries of a run, and refuses retries beyond a share, against retry storms. */
interface RetryBudget {
  /** Call once for every request that is sent, retries included. */
  sent(): void
  /** Takes one retry; false when none is left. */
  spend(): boolean
  readonly retries: number
}

/** Of all requests. */
const retryShare = 0.1
/** So that a short run can retry at all. */
const leastRetries = 10

export function createRetryBudget(): RetryBudget {
  let requests = 0
  let retries = 0
  return {
    sent: () => {
      requests += 1
    },
    spend: () => {
      if (retries + 1 > Math.max(leastRetries, requests * retryShare)) return false
      retries += 1
      return true
    },
    get retries() {
      return retries
    },
  }
}
