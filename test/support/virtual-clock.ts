/** A clock that moves only when told to, or at once when somebody sleeps on it. */
import type { Clock } from '../../src/lib/clock.ts'

export interface VirtualClock extends Clock {
  advance(ms: number): void
  set(now: number | string): void
  readonly slept: number[]
}

export function virtualClock(start = '2026-03-02T10:00:00.000Z'): VirtualClock {
  let now = Date.parse(start)
  const slept: number[] = []
  return {
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted()
      slept.push(ms)
      now += ms
    },
    advance: ms => {
      now += ms
    },
    set: moment => {
      now = typeof moment === 'string' ? Date.parse(moment) : moment
    },
    slept,
  }
}
