/** The time left of runs under any limit, beside the time that they really took. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMinuteWindow } from '../../src/api/budget/minute.ts'
import { Waits } from '../../src/api/budget/waits.ts'
import { atStart, type ProgressState, withBudget, withEvent } from '../../src/cli/terminal/progress-state.ts'
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
  /** Until the others are found, a run can tell that as many may follow, or more. */
  readonly mayFollow: number | undefined
  /** So many pages are loaded together, which takes so long, give or take a third, and closing the run as long. */
  readonly perLoad: number
  readonly loadMs: number
}

interface Seen {
  readonly atMs: number
  /** Undefined where no estimate is shown. */
  readonly left: number | undefined
  /** It takes at least so long. */
  readonly least: number | undefined
}

/** A run under the real limiter, which reads and loads one small list first; what it shows after each page and each second of waiting. */
async function seenIn({ perMinute, recent, pages, more, workMs, mayFollow, perLoad, loadMs }: Run) {
  const clock = stillClock()
  const rng = seededRng(1)
  const startedMs = clock.now()
  let state: ProgressState = atStart(startedMs)
  const seen: Seen[] = []
  const look = () => {
    const atMs = clock.now() - startedMs
    const { ms, isLeast } = timeLeft(state, atMs) ?? { ms: undefined, isLeast: false }
    seen.push({ atMs, left: isLeast ? undefined : ms, least: isLeast ? ms : undefined })
  }
  const pass = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      look()
      clock.move(Math.min(1_000, ms - passed))
    }
  }
  const watched = { ...clock, sleep: async (ms: number) => pass(ms) }
  const waits = new Waits(watched)
  let loadsDone = 0
  const limiter = createMinuteWindow({ clock: watched, cap: perMinute ?? 1_000_000, recent })
  const tell = (spentThisRun: number): void => {
    const budget = { remainingToday: undefined, spentThisRun, ...(perMinute && { perMinute }) }
    const { ms: waitedMs, isAny: isWaiting } = waits
    state = withBudget(state, { ...budget, waitedMs, isWaiting, freeAt: limiter.freeAt() }, clock.now())
  }
  const load = (resource: string): void => {
    pass(Math.round(loadMs * (2 / 3 + (2 / 3) * rng())))
    loadsDone += 1
    state = withEvent(state, { resource, state: 'loading', loadsDone }, clock.now())
  }
  let sent = 0
  const send = async (): Promise<void> => {
    const taken = waits.during(() => limiter.take())
    tell(sent)
    const ended = await taken
    ended()
    sent += 1
    tell(sent)
  }
  state = withEvent(state, { resource: 'all', state: 'waiting' }, clock.now())
  await send()
  state = withEvent(state, { resource: 'small', state: 'scanning', pagesDone: 1, pagesTotal: 1 }, clock.now())
  load('small')
  state = withEvent(state, { resource: 'small', state: 'done' }, clock.now())
  loadsDone = 0
  let foundMs = 0
  for (let page = 1; page <= pages + more; page += 1) {
    await send()
    clock.move(Math.round(workMs * (0.5 + rng())))
    const isFound = more > 0 && page > pages / 2
    if (isFound && foundMs === 0) foundMs = clock.now() - startedMs
    const pagesTotal = isFound ? pages + more : pages
    const pagesMost = isFound ? pagesTotal : pages + Math.max(more, mayFollow ?? more)
    const told = mayFollow === undefined ? {} : { pagesMost }
    const isLoaded = page % perLoad === 0 || page === pages + more
    const loadsTotal = loadsDone + Math.ceil((pagesTotal - page + (page % perLoad || perLoad)) / perLoad)
    const event = { resource: 'all', pagesDone: page, pagesTotal, loadsTotal, ...told }
    state = withEvent(state, { ...event, state: 'scanning' }, clock.now())
    look()
    if (isLoaded) load('all')
  }
  state = withEvent(state, { resource: 'all', state: 'done' }, clock.now())
  pass(loadMs)
  return { seen, tookMs: clock.now() - startedMs, foundMs }
}

const runs = fc.record({
  perMinute: fc.constantFrom(undefined, 300, 60, 40, 7),
  recent: fc.constantFrom(0, 5, 40),
  pages: fc.integer({ min: 30, max: 400 }),
  more: fc.constantFrom(0, 0, 50),
  workMs: fc.integer({ min: 5, max: 3_000 }),
  mayFollow: fc.constant(undefined),
  perLoad: fc.constantFrom(1, 10, 82),
  loadMs: fc.constantFrom(0, 200, 6_000),
})

const constants = (run: Run) => ({
  perMinute: fc.constant(run.perMinute),
  recent: fc.constant(run.recent),
  pages: fc.constant(run.pages),
  workMs: fc.constant(run.workMs),
  perLoad: fc.constant(run.perLoad),
  loadMs: fc.constant(run.loadMs),
})

/** Both wrong estimates and least times that were too long, of those that are no matter of the last seconds. */
function wrongIn({ seen, tookMs }: Awaited<ReturnType<typeof seenIn>>, fromMs: number, leastMs: number) {
  return seen.filter(({ atMs, left, least }) => {
    const really = tookMs - atMs
    const allowed = Math.max(0.3 * really, leastMs)
    if (atMs < fromMs) return false
    return left === undefined ? (least ?? 0) > really + allowed : Math.abs(left - really) > allowed
  })
}

// Towards the end, of seconds, or of the pages and the load under way.
const seconds = ({ workMs, loadMs }: Run): number => Math.max(3_000, 3 * workMs + loadMs)
// A wait that nothing announces, for requests of an earlier run, is noticed after some seconds.
const unnoticed = 6

test('it is within 30% from a third of the run on, once the number of pages is known', async () => {
  await fc.assert(
    fc.asyncProperty(runs, async run => {
      const shown = await seenIn(run)
      const wrong = wrongIn(shown, Math.max(shown.tookMs / 3, shown.foundMs), seconds(run))
      expect(wrong.slice(unnoticed).map(one => ({ ...one, tookMs: shown.tookMs }))).toEqual([])
    }),
    { numRuns: 30, seed: 1 },
  )
})

test('while pages may name more, it is an estimate only where that makes no difference, else the least time', async () => {
  const growing = runs.chain(run =>
    fc.record({ ...constants(run), more: fc.nat(run.pages), mayFollow: fc.nat(run.pages) }),
  )
  await fc.assert(
    fc.asyncProperty(growing, async run => {
      const shown = await seenIn(run)
      const wrong = wrongIn(shown, shown.tookMs / 3, seconds(run))
      expect(wrong.slice(unnoticed).map(one => ({ ...one, tookMs: shown.tookMs }))).toEqual([])
      if (run.mayFollow === 0 && run.more === 0) expect(shown.seen.some(({ least }) => least)).toBe(false)
    }),
    { numRuns: 60, seed: 1 },
  )
})

test('a run that waits shows it', async () => {
  const { seen } = await seenIn({
    perMinute: 40,
    recent: 0,
    pages: 90,
    more: 0,
    workMs: 100,
    mayFollow: undefined,
    perLoad: 82,
    loadMs: 0,
  })
  const waiting = seen.find(({ atMs }) => atMs > 20_000 && atMs < 30_000)
  // Two minutes and a few pages: 40 at once, 40 after a minute, and 10 after another.
  expect((waiting?.left ?? 0) / 1000).toBeCloseTo(2 * 60 + 1 - (waiting?.atMs ?? 0) / 1000, -0.5)
})
