/** Waits for slots of a key that several processes share: its minute and its day are counted in one place. */
import { type Clock, elapsedOf } from '../../lib/clock.ts'
import type { KeyInfo } from '../client/key.ts'
import type { Purpose } from './day.ts'

/** Permission for one request, valid from `waitMs` after it was requested, for `lateMs`. */
export interface Slot {
  readonly waitMs: number
  readonly lateMs: number
}

/** Numbers of requests, as of the last slot. */
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
  /** Counts one request of the day; undefined if none is left for this purpose. */
  take(purpose: Purpose, asksLimits?: boolean): Promise<Slot | undefined>
  /** Returns an unsent request to the day, but not to the minute. */
  giveBack(purpose: Purpose): Promise<void>
  /** Applies an answer of `/me`. */
  learnLimits(me: Pick<KeyInfo, 'rateLimitPerMinute' | 'rateLimitPerDay' | 'usage'>): Promise<void>
  /** Stops all processes from sending for `waitMs`. */
  pause(waitMs: number): Promise<void>
  readonly figures: SharedFigures
}

export interface SlotOptions {
  /** Whether the request asks for the limits of the key. */
  readonly asksLimits?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

interface SlotRequest extends SlotOptions {
  readonly clock: Clock
  readonly purpose: Purpose
  /** Called with the time of sending (on `elapsed`), before and after the wait; throws if nothing may be sent then. */
  readonly refuseAt: (at: number) => void
}

/**
 * Waits for a slot and returns whether it is still valid: a process that was suspended in between would send outside its
 * slot. Undefined if the day is used up.
 */
export async function waitForSlot(shared: SharedRequests, taker: SlotRequest): Promise<boolean | undefined> {
  const { clock, purpose, asksLimits, signal, refuseAt } = taker
  const askedAt = elapsedOf(clock)
  const slot = await shared.take(purpose, asksLimits)
  if (!slot) return undefined
  const startsAt = askedAt + slot.waitMs
  let isSent = false
  try {
    signal?.throwIfAborted()
    refuseAt(startsAt)
    // A timer may fire a millisecond early.
    if (slot.waitMs > 0) await clock.sleep(slot.waitMs + 1, signal)
    refuseAt(elapsedOf(clock))
    isSent = elapsedOf(clock) <= startsAt + slot.lateMs
    return isSent
  } finally {
    if (!isSent) await shared.giveBack(purpose)
  }
}
