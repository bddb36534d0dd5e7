/** Defines the Clock that code which waits or stamps takes, so that tests decide what time it is. */
import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'

export interface Clock {
  /** Milliseconds since the epoch, UTC. */
  now(): number
  /** Milliseconds since a fixed time: setting the clock changes `now` but never this. See `elapsedOf`. */
  elapsed?(): number
  /** Resolves after `ms`; rejects when aborted first, with the signal's reason as the cause. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) => wait(ms, undefined, signal ? { signal } : {}),
}

/** For durations: a deadline or a wait must end on time even if the clock is set in between. */
export const elapsedOf = (clock: Clock): number => clock.elapsed?.() ?? clock.now()

/** A clock that shows another time and runs as fast. */
export const shiftedClock = (clock: Clock, ms: number): Clock => ({
  now: () => clock.now() + ms,
  elapsed: () => elapsedOf(clock),
  sleep: (duration, signal) => clock.sleep(duration, signal),
})

/** Sleeps until the time is over or the signal is aborted, whichever comes first. */
export async function sleepUnlessAborted(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal)
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
