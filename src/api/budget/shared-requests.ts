/** Requests that several processes on one key share: slots of its minute and the count of its day, granted in one place. */
import { type Clock, elapsedOf } from '../../lib/clock.ts'
import type { KeyInfo } from '../client/key.ts'
import type { Purpose } from './day.ts'

/** Permission for one request, valid from `waitMs` after it was asked for, for `lateMs`. */
export interface Slot {
  readonly waitMs: number
  readonly lateMs: number
}

/** As of the last answer; numbers of requests. */
export interface SharedFigures {
  readonly perDay: number
  /** Left of the day for all purposes. */
  readonly remaining: number
  /** Left today for purpose `sync`. */
  readonly spendable: number
  /** Left today for reads that events cause. */
  readonly forEvents: number
}

export interface SharedRequests {
  /** Counts one request of the day; undefined when none is left for this purpose. */
  take(purpose: Purpose, asksLimits?: boolean): Promise<Slot | undefined>
  /** Returns a request that was not sent to the day; the minute does not get it back. */
  giveBack(purpose: Purpose): Promise<void>
  /** Takes over an answer of `/me`. */
  told(me: Pick<KeyInfo, 'rateLimitPerMinute' | 'rateLimitPerDay' | 'usage'>): Promise<void>
  /** No process sends for so many milliseconds. */
  pause(waitMs: number): Promise<void>
  readonly figures: SharedFigures
}

export interface SlotOptions {
  /** Whether the request asks for the limits of the key. */
  readonly asksLimits?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

interface Taker extends SlotOptions {
  readonly clock: Clock
  readonly purpose: Purpose
  /** Called with the moment of sending, on the `elapsed` of the clock, before and after the wait: throws when nothing may be sent then. */
  readonly refuseAt: (moment: number) => void
}

/**
 * Waits for a slot and returns whether it is still valid: a process that was suspended meanwhile would send outside of
 * its slot. Undefined when the day is spent.
 */
export async function waitForSlot(shared: SharedRequests, taker: Taker): Promise<boolean | undefined> {
  const { clock, purpose, asksLimits, signal, refuseAt } = taker
  const askedAt = elapsedOf(clock)
  const slot = await shared.take(purpose, asksLimits)
  if (!slot) return undefined
  const startsAt = askedAt + slot.waitMs
  let isSent = false
  try {
    signal?.throwIfAborted()
    refuseAt(startsAt)
    // A timer may ring a millisecond early.
    if (slot.waitMs > 0) await clock.sleep(slot.waitMs + 1, signal)
    refuseAt(elapsedOf(clock))
    isSent = elapsedOf(clock) <= startsAt + slot.lateMs
    return isSent
  } finally {
    if (!isSent) await shared.giveBack(purpose)
  }
}
