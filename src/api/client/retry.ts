/** When a failed request is sent again, and when no more. */
import type { Rng } from '../../lib/rng.ts'

/** Sendings of one request in all, the first included. */
export const MAX_ATTEMPTS = 6

/**
 * Milliseconds. A service that says "come back later than this" ends the run (exit 75) rather than hold it.
 */
export const LONGEST_WAIT = 15 * 60_000

const BASE = 500
const CAP = 30_000
const MINUTE = 60_000
/** Upward only, so that programs which were told the same moment do not come back in one burst. */
const TOLD_JITTER = 1_000
const EDGE_JITTER = 5_000

interface RetryAsk {
  /** How many times the request was sent: 1 after the first failure. */
  readonly attempt: number
  /** True after 429. */
  readonly limited: boolean
  /** The Retry-After header as sent, if any. */
  readonly retryAfter?: string | undefined
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly rng: Rng
}

/**
 * Milliseconds to wait before the next sending: what the service said, else after 429 to the edge of the next
 * minute, else exponential with full jitter. More than LONGEST_WAIT means: stop.
 */
export function retryDelay({ attempt, limited, retryAfter, now, rng }: RetryAsk): number {
  const told = toldWait(retryAfter, now)
  if (told !== undefined) return told + Math.floor(rng() * TOLD_JITTER)
  if (limited) return MINUTE - (now % MINUTE) + Math.floor(rng() * EDGE_JITTER)
  return Math.floor(rng() * Math.min(CAP, BASE * 2 ** (attempt - 1)))
}

/** A date that is already past only shows that the clocks differ, so it counts as not told. */
function toldWait(retryAfter: string | undefined, now: number): number | undefined {
  const text = retryAfter?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000
  // Date.parse also takes texts such as "-5" (May 2001): only the spellings of HTTP are let through.
  if (!/^[A-Za-z]{3,9},? .*\d.* GMT$/.test(text)) return undefined
  const wait = Date.parse(text) - now
  return wait > 0 ? wait : undefined
}

/** Counts requests and repetitions of a run, and refuses repetitions beyond a share: no retry storms. */
interface RetryBudget {
  /** Call once for every request that is sent, repetitions included. */
  sent(): void
  /** Takes one repetition; false when there is none left. */
  spend(): boolean
  readonly retries: number
}

/** Of all requests. */
const RETRY_SHARE = 0.1
/** So that a short run can repeat at all. */
const LEAST_RETRIES = 10

export function createRetryBudget(): RetryBudget {
  let requests = 0
  let retries = 0
  return {
    sent: () => {
      requests += 1
    },
    spend: () => {
      if (retries + 1 > Math.max(LEAST_RETRIES, requests * RETRY_SHARE)) return false
      retries += 1
      return true
    },
    get retries() {
      return retries
    },
  }
}
