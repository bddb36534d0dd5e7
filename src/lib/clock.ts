/** Time, passed in: code that waits or stamps takes a Clock, so that tests decide what time it is. */
import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'

export interface Clock {
  /** Milliseconds since the epoch, UTC. */
  now(): number
  /** Milliseconds since a fixed moment: setting the clock moves `now` and never this. See `elapsedOf`. */
  elapsed?(): number
  /** Resolves after `ms`; rejects when aborted first, with the signal's reason as the cause. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) => wait(ms, undefined, signal ? { signal } : {}),
}

/** For durations: a deadline or a pause must end when it should although the clock is set meanwhile. */
export const elapsedOf = (clock: Clock): number => clock.elapsed?.() ?? clock.now()

/** Sleeps until the time is over or the signal is aborted, whichever comes first. */
export async function sleepUnlessAborted(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal)
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
