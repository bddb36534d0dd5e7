/** The time left of runs under any limit, beside the time that they really took. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMinuteWindow } from '../../src/api/budget/minute.ts'
import { atStart, type ProgressState, withEvent, withRequest } from '../../src/cli/terminal/progress-state.ts'
import { timeLeft } from '../../src/cli/terminal/time-left.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { stillClock } from './captured-world.ts'

interface Run {
  readonly perMinute: number | undefined
  /** Requests of the minute before, by an earlier run. */
  readonly recent: number
  readonly pages: number
  /** Pages that the list has beyond those, found when half of them are read. */
  readonly more: number
  /** Milliseconds of work a page, give or take a half. */
  readonly workMs: number
}

interface Seen {
  readonly atMs: number
  readonly left: number | undefined
}

/** A run under the real limiter; what it shows after each page and each second of waiting. */
async function seenIn({ perMinute, recent, pages, more, workMs }: Run) {
  const clock = stillClock()
  const rng = seededRng(1)
  const startedMs = clock.now()
  let state: ProgressState = atStart(startedMs)
  const seen: Seen[] = []
  const look = () => {
    const atMs = clock.now() - startedMs
    seen.push({ atMs, left: timeLeft(state, atMs) })
  }
  const watched = {
    ...clock,
    sleep: async (ms: number) => {
      for (let slept = 0; slept < ms; slept += 1_000) {
        look()
        clock.move(Math.min(1_000, ms - slept))
      }
    },
  }
  const limiter = createMinuteWindow({ clock: watched, cap: perMinute ?? 1_000_000, recent })
  let foundMs = 0
  for (let page = 1; page <= pages + more; page += 1) {
    await limiter.take()
    const budget = { remainingToday: undefined, spentThisRun: page, ...(perMinute && { perMinute }) }
    state = withRequest(state, budget, clock.now())
    clock.move(Math.round(workMs * (0.5 + rng())))
    const isFound = more > 0 && page > pages / 2
    if (isFound && foundMs === 0) foundMs = clock.now() - startedMs
    const pagesTotal = isFound ? pages + more : pages
    state = withEvent(state, { resource: 'all', state: 'scanning', pagesDone: page, pagesTotal })
    look()
  }
  return { seen, tookMs: clock.now() - startedMs, foundMs }
}

const runs = fc.record({
  perMinute: fc.constantFrom(undefined, 300, 60, 40, 7),
  recent: fc.constantFrom(0, 5, 40),
  pages: fc.integer({ min: 30, max: 400 }),
  more: fc.constantFrom(0, 0, 50),
  workMs: fc.integer({ min: 5, max: 3_000 }),
})

test('it is within 30% from a third of the run on, once the number of pages is known', async () => {
  await fc.assert(
    fc.asyncProperty(runs, async run => {
      const { seen, tookMs, foundMs } = await seenIn(run)
      const late = seen.filter(
        ({ atMs, left }) => atMs >= Math.max(tookMs / 3, foundMs) && left !== undefined,
      )
      // Towards the end, of seconds or of the pages under way.
      const leastMs = Math.max(3_000, 3 * run.workMs)
      const wrong = late.filter(
        ({ atMs, left = 0 }) => Math.abs(left - (tookMs - atMs)) > Math.max(0.3 * (tookMs - atMs), leastMs),
      )
      // A wait that nothing announces, for requests of an earlier run, is noticed after some seconds.
      expect(wrong.slice(6).map(one => ({ ...one, tookMs }))).toEqual([])
    }),
    { numRuns: 30, seed: 1 },
  )
})

test('a run that waits shows it', async () => {
  const { seen } = await seenIn({ perMinute: 40, recent: 0, pages: 90, more: 0, workMs: 100 })
  const waiting = seen.find(({ atMs }) => atMs > 20_000 && atMs < 30_000)
  // Two minutes and a few pages: 40 at once, 40 after a minute, and 10 after another.
  expect((waiting?.left ?? 0) / 1000).toBeCloseTo(2 * 61.8 + 1 - (waiting?.atMs ?? 0) / 1000, -0.5)
})
