/** Time, passed in: code that waits or stamps takes a Clock, so that tests decide what time it is. */
import { setTimeout as wait } from 'node:timers/promises'

export interface Clock {
  /** Milliseconds since the epoch, UTC. */
  now(): number
  /** Resolves after `ms`; rejects when aborted first, with the signal's reason as the cause. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => wait(ms, undefined, signal ? { signal } : {}),
}

/** Sleeps until the time is over or the signal is aborted, whichever comes first. */
export async function sleepUnlessAborted(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal)
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
