/** When one process may send: the limits of its run, the day, and requested pauses, each on both sides of its boundary. */
import { describe, expect, test } from 'vitest'
import { type BudgetOptions, createBudget } from '../../../src/api/budget/budget.ts'
import type { Purpose } from '../../../src/api/budget/day.ts'
import type { RequestRelease } from '../../../src/api/budget/minute.ts'
import { virtualClock } from '../../support/virtual-clock.ts'
import { held, settled } from '../delayed-answers.ts'

const longestWait = 15 * 60_000
const noMinute = { take: async () => () => {}, resize: () => {} }

function setUp(options: Partial<BudgetOptions> = {}) {
  const clock = virtualClock()
  const start = clock.now()
  return {
    clock,
    budget: createBudget({ clock, minute: noMinute, ...options }),
    at: () => clock.now() - start,
    start,
  }
}

/** One with a deadline so many milliseconds ahead. */
const endingIn = (ms: number) => {
  const clock = virtualClock()
  return { clock, budget: createBudget({ clock, minute: noMinute, deadline: clock.now() + ms }) }
}

const said = async (taken: Promise<unknown>): Promise<string> =>
  taken.then(
    () => 'sent',
    ({ message }) => message,
  )

const me = (usage: object = {}, perDay = 1_000, perMinute = 60) => ({
  ...{ rateLimitPerMinute: perMinute, rateLimitPerDay: perDay, usage },
})

describe('a run', () => {
  test('sends as many requests as it may, and no more', async () => {
    const { budget } = setUp({ maxRequests: 2 })
    await budget.take('sync')
    expect([budget.refusal('sync'), budget.usage().spendable]).toEqual([undefined, 1])
    await budget.take('operator')
    expect(budget.usage()).toMatchObject({ requestsThisRun: 2, spendable: 0 })
    expect(await said(budget.take('sync'))).toMatch(/^the budget of this run is used up, 2 requests/)
    expect(budget.refusal('sync')?.message).toMatch(/^the budget of this run is used up, 2 requests/)
    expect(budget.usage().requestsThisRun).toBe(2)
  })

  test.each([
    [59_999, 'sent'],
    [60_000, 'the deadline of this run, 2026-03-02 10:01 UTC, leaves no time for another request'],
  ])('after %i of 60,000 ms until its deadline: %s', async (passed, expected) => {
    const { clock, budget } = endingIn(60_000)
    clock.advance(passed)
    expect(budget.refusal('sync')?.report.what ?? 'sent').toBe(expected)
    expect((await said(budget.take('sync'))).split(':').slice(0, 2).join(':')).toMatch(
      expected === 'sent' ? /^sent$/ : /^the deadline of this run, 2026-03-02 10:01 UTC/,
    )
  })

  test('names the deadline when both the deadline and its requests are over', () => {
    const { clock, budget } = endingIn(60_000)
    const spent = createBudget({ clock, minute: noMinute, deadline: clock.now(), maxRequests: 0 })
    expect(spent.refusal('sync')?.message).toContain('deadline')
    expect(budget.refusal('sync')).toBeUndefined()
  })

  test('keeps its deadline when the clock is set', async () => {
    const clock = virtualClock()
    let elapsed = 0
    const steady = { ...clock, elapsed: () => elapsed }
    const budget = createBudget({ clock: steady, minute: noMinute, deadline: clock.now() + 60_000 })
    clock.advance(3_600_000)
    expect(budget.refusal('sync')).toBeUndefined()
    elapsed = 60_000
    expect(budget.refusal('sync')?.message).toContain('the deadline of this run, 2026-03-02 11:00 UTC')
  })

  test('that is stopped sends nothing, for its own reason', async () => {
    const { budget } = setUp({ maxRequests: 0 })
    const signal = AbortSignal.abort(new Error('stopped by hand'))
    expect(await said(budget.take('sync', { signal }))).toBe('stopped by hand')
  })

  test('may repeat one in ten of its requests, and ten in any case', async () => {
    const { budget } = setUp()
    for (let n = 0; n < 110; n += 1) await budget.take('sync')
    const spent = Array.from({ length: 12 }, () => budget.spendRetry())
    expect(spent).toEqual([...Array(11).fill(true), false])
    expect(budget.usage()).toMatchObject({ retries: 11, requestsThisRun: 110 })
  })
})

describe('the day', () => {
  test.each<[Purpose, number]>([
    ['sync', 15],
    ['webhook', 2],
    ['reconcile', 17],
    ['operator', 16],
  ])('lets a %s send %i of 20 requests, then says when it begins anew', async (purpose, most) => {
    const { budget } = setUp()
    budget.refresh(me({}, 20), 0)
    for (let n = 0; n < most; n += 1) {
      expect(budget.refusal(purpose)).toBeUndefined()
      await budget.take(purpose)
    }
    expect(budget.refusal(purpose)?.message).toContain('the quota of the day has no request left for')
    expect(await said(budget.take(purpose))).toContain(`(${most} of 20 used`)
    expect(budget.usage().requestsThisRun).toBe(most)
  })

  test('is used before anything is waited for', async () => {
    const { clock, budget } = setUp({ perDay: 1, usedToday: 0 })
    await budget.take('sync')
    budget.pause(1_000)
    expect(await said(budget.take('sync'))).toContain('quota')
    expect(clock.slept).toEqual([])
  })

  test('counts from when /me was asked for', async () => {
    const { budget } = setUp()
    for (let n = 0; n < 7; n += 1) await budget.take('sync')
    budget.refresh(me({ remainingToday: 500 }), 5)
    expect(budget.usage().remainingToday).toBe(498)
  })
})

describe('a pause', () => {
  test('is kept by the next request, and reported', async () => {
    const paused: number[] = []
    const { budget, at } = setUp({ onPause: ms => void paused.push(ms) })
    budget.pause(30_000)
    await budget.take('sync')
    expect([at(), paused]).toEqual([30_000, [30_000]])
  })

  test('that was said last counts, also when it is shorter', async () => {
    const { budget, at } = setUp()
    budget.pause(30_000)
    budget.pause(10_000)
    await budget.take('sync')
    expect(at()).toBe(10_000)
  })

  test('of an earlier process is kept', async () => {
    const { budget, at } = setUp({ pausedForMs: 2_000 })
    await budget.take('sync')
    expect(at()).toBe(2_000)
  })

  test('that grows while it is waited for is waited for to its end', async () => {
    const clock = virtualClock()
    const start = clock.now()
    const sleep: typeof clock.sleep = async (ms, signal) => {
      if (clock.slept.length === 0) budget.pause(5_000)
      await clock.sleep(ms, signal)
    }
    const budget = createBudget({ clock: { ...clock, sleep }, minute: noMinute })
    budget.pause(1_000)
    await budget.take('sync')
    expect([clock.now() - start, clock.slept]).toEqual([5_000, [1_000, 4_000]])
  })

  test.each([
    [longestWait, 'sent'],
    [longestWait + 1, 'the service asks not to be called before 2026-03-02 10:15:00 UTC'],
  ])('of %i ms: %s', async (ms, expected) => {
    const { clock, budget } = setUp()
    budget.pause(ms)
    const found = await said(budget.take('sync'))
    expect(found.startsWith(expected.replace(':00 UTC', ''))).toBe(true)
    expect(clock.slept).toEqual(expected === 'sent' ? [ms] : [])
  })

  test.each([
    [59_999, 'sent'],
    [60_000, 'deadline'],
  ])('of %i ms with a deadline in 60,000 ms: %s', async (ms, expected) => {
    const { clock, budget } = endingIn(60_000)
    budget.pause(ms)
    expect(await said(budget.take('sync'))).toContain(expected)
    expect(clock.slept).toEqual(expected === 'sent' ? [ms] : [])
  })

  test('names the deadline when it lasts longer than a run waits and than the run', async () => {
    const { budget } = endingIn(60_000)
    budget.pause(longestWait + 1)
    expect(await said(budget.take('sync'))).toContain('deadline')
  })

  test('that begins while a request queues for the minute holds it, and its place is lost', async () => {
    const { clock, at, queue } = queueing()
    const taken = queue.budget.take('sync').then(at)
    await settled()
    queue.budget.pause(30_000)
    queue.next()
    expect(await taken).toBe(30_000)
    expect([queue.ends(), clock.slept]).toEqual([1, [30_000]])
    expect(queue.budget.usage().requestsThisRun).toBe(1)
  })

  test('that ends while a request queues does not hold it', async () => {
    const { clock, at, queue } = queueing()
    const taken = queue.budget.take('sync').then(at)
    await settled()
    queue.budget.pause(30_000)
    clock.advance(30_000)
    queue.next()
    expect(await taken).toBe(30_000)
    expect([queue.ends(), clock.slept]).toEqual([0, []])
  })
})

/** A budget whose first request waits for its minute until a test lets it go on; counts the places given back. */
function queueing(options: Partial<BudgetOptions> = {}) {
  const waiting = held()
  let ends = 0
  const ended: RequestRelease = () => {
    ends += 1
  }
  const minute = { ...noMinute, take: () => waiting.promise.then(() => ended) }
  const made = setUp({ ...options, minute })
  return { ...made, queue: { budget: made.budget, next: () => waiting.end(), ends: () => ends } }
}

describe('a request that queued for the minute', () => {
  test('is not sent once its run is spent, and gives its place back', async () => {
    const { queue } = queueing({ maxRequests: 1 })
    const [one, other] = [queue.budget.take('sync'), queue.budget.take('sync')]
    await settled()
    queue.next()
    await one
    expect(await said(other)).toContain('the budget of this run is used up')
    expect([queue.ends(), queue.budget.usage().requestsThisRun]).toEqual([1, 1])
  })

  test('is not sent once its purpose has nothing left of the day', async () => {
    const { queue } = queueing({ perDay: 10, eventsToday: 0 })
    const [one, other] = [queue.budget.take('webhook'), queue.budget.take('webhook')]
    await settled()
    queue.next()
    await one
    expect(await said(other)).toContain('no request left for webhook events')
    expect(queue.budget.usage().forEventsToday).toBe(1)
  })

  test('ends when it is stopped', async () => {
    const { queue } = queueing()
    const taken = queue.budget.take('sync')
    await settled()
    queue.next()
    const ended = await taken
    expect(queue.ends()).toBe(0)
    ended()
    expect(queue.ends()).toBe(1)
  })
})

describe('a request that may not be sent before a given time', () => {
  test.each([
    ['waits for it', 0, 4_000, [4_000]],
    ['waits for a pause that ends later', 6_000, 4_000, [6_000]],
    ['waits for it after a pause', 1_000, 4_000, [4_000]],
  ])('%s', async (...[, pause, ms, slept]) => {
    const { clock, budget } = setUp()
    budget.pause(pause)
    await budget.take('sync', { notBefore: clock.now() + ms })
    expect(clock.slept).toEqual(slept)
  })

  test('hands its signal to the wait', async () => {
    const clock = virtualClock()
    const signals: unknown[] = []
    const sleep: typeof clock.sleep = (ms, signal) => {
      signals.push(signal)
      return clock.sleep(ms)
    }
    const budget = createBudget({
      clock: { ...clock, sleep },
      minute: {
        ...noMinute,
        take: async one => {
          signals.push(one)
          return () => {}
        },
      },
    })
    const { signal } = new AbortController()
    await budget.take('sync', { notBefore: clock.now() + 1, signal })
    expect(signals).toEqual([signal, signal])
  })
})

describe('the minute', () => {
  const waits = async (options: Partial<BudgetOptions>) => {
    const clock = virtualClock()
    await createBudget({ clock, ...options }).take('sync')
    return clock.slept
  }

  test('has the limit of an earlier run, less the requests of earlier processes', async () => {
    expect(await waits({ recentRequests: 60 })).toEqual([60_030])
    expect(await waits({ recentRequests: 59 })).toEqual([])
    expect(await waits({ recentRequests: 60, perMinute: 61 })).toEqual([])
    expect(await waits({})).toEqual([])
  })

  test('takes the limit that /me reports', async () => {
    const clock = virtualClock()
    const budget = createBudget({ clock, recentRequests: 60 })
    budget.refresh(me({}, 1_000, 61), 0)
    await budget.take('sync')
    expect([budget.usage().perMinute, clock.slept]).toEqual([61, []])
  })
})

describe('the figures', () => {
  test('are those of the day and of the run', async () => {
    const { budget } = setUp({ maxRequests: 900, eventsToday: 20 })
    budget.refresh(me({ remainingToday: 800 }), 0)
    await budget.take('sync')
    expect(budget.usage()).toEqual({
      ...{ perMinute: 60, perDay: 1_000, usedToday: 201, remainingToday: 799, isReported: true },
      ...{ spendableToday: 569, spendable: 569, leftForEvents: 80, forEventsToday: 20 },
      ...{ requestsThisRun: 1, retries: 0, resetsAt: '2026-03-03T00:00:00.000Z' },
    })
  })

  test('allow no more than the run, and never less than none', async () => {
    const { budget } = setUp({ maxRequests: 3 })
    expect(budget.usage()).toMatchObject({ spendable: 3, spendableToday: 3_750 })
    const none = setUp({ maxRequests: -1 }).budget
    expect(none.usage().spendable).toBe(0)
  })

  test.each([
    [{ requestsToday: 0 }, true],
    [{ remainingToday: 0 }, true],
    [{ resetsAt: '2026-03-03T00:00:00Z' }, false],
    [{}, false],
  ])('are reported by the service after /me with %j: %s', (usage, isReported) => {
    const { budget } = setUp()
    expect(budget.usage().isReported).toBe(false)
    budget.refresh(me(usage), 0)
    expect(budget.usage().isReported).toBe(isReported)
  })

  test('stay reported when a later /me says nothing', () => {
    const { budget } = setUp()
    budget.refresh(me({ remainingToday: 5 }), 0)
    budget.refresh(me(), 0)
    expect(budget.usage().isReported).toBe(true)
  })
})
