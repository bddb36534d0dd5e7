/** What several processes on one key share: slots of its minute and requests of its day, given out in one place. */
import type { Clock } from '../../lib/clock.ts'
import type { KeyInfo } from '../client/key.ts'
import type { Purpose } from './day.ts'

/** Leave for one request, from `waitMs` after it was asked for; void when it is `lateMs` later than that. */
export interface Slot {
  readonly waitMs: number
  readonly lateMs: number
}

/** As of the last answer; numbers of requests. */
export interface SharedFigures {
  readonly perDay: number
  /** Of the day, of anybody. */
  readonly remaining: number
  /** What purpose `sync` can still spend today. */
  readonly spendable: number
}

export interface SharedRequests {
  /** Counts one request of the day; undefined when none is left for this purpose. */
  take(purpose: Purpose): Promise<Slot | undefined>
  /** The request was not sent: the day has it back, the minute does not. */
  giveBack(purpose: Purpose): Promise<void>
  /** What `/me` says of the key. */
  told(me: Pick<KeyInfo, 'rateLimitPerMinute' | 'rateLimitPerDay' | 'usage'>): Promise<void>
  /** No process sends for so many milliseconds. */
  pause(waitMs: number): Promise<void>
  readonly figures: SharedFigures
}

interface Taker {
  readonly clock: Clock
  readonly purpose: Purpose
  readonly signal: AbortSignal | undefined
  /** Called with the moment of sending, before and after the wait: throws when nothing may be sent then. */
  readonly refuseAt: (moment: number) => void
}

/**
 * Waits for a slot and returns whether it may be used: a process that was stopped meanwhile would send outside of its
 * turn. Undefined when the day is spent.
 */
export async function waitForSlot(shared: SharedRequests, taker: Taker): Promise<boolean | undefined> {
  const { clock, purpose, signal, refuseAt } = taker
  const askedAt = clock.now()
  const slot = await shared.take(purpose)
  if (!slot) return undefined
  const startsAt = askedAt + slot.waitMs
  let isSent = false
  try {
    signal?.throwIfAborted()
    refuseAt(startsAt)
    // A timer may ring a millisecond early.
    if (slot.waitMs > 0) await clock.sleep(slot.waitMs + 1, signal)
    refuseAt(clock.now())
    isSent = clock.now() <= startsAt + slot.lateMs
    return isSent
  } finally {
    if (!isSent) await shared.giveBack(purpose)
  }
}
