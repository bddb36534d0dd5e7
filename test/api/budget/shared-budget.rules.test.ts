/** When one of several processes on a key may send: slots that are shared, and what the others are told. */
import { describe, expect, test } from 'vitest'
import { type BudgetOptions, createBudget } from '../../../src/api/budget/budget.ts'
import type { SharedRequests } from '../../../src/api/budget/shared-requests.ts'
import { virtualClock } from '../../support/virtual-clock.ts'
import { held, settled } from '../delayed-answers.ts'
import { atOnce, memoryShare } from './memory-share.ts'

const longestWait = 15 * 60_000

function setUp(parts: Parameters<typeof memoryShare>[0] = {}, options: Partial<BudgetOptions> = {}) {
  const clock = virtualClock()
  const shared = memoryShare(parts)
  return { clock, shared, budget: createBudget({ clock, shared, ...options }) }
}

const said = async (taken: Promise<unknown>): Promise<string> =>
  taken.then(
    () => 'sent',
    ({ message }) => message,
  )

const names = (calls: readonly (readonly unknown[])[]) => calls.map(([name]) => name)

describe('the other processes learn', () => {
  test('a pause, with its milliseconds', async () => {
    const { shared, budget } = setUp()
    budget.pause(30_000)
    await settled()
    expect(shared.calls).toEqual([['pause', 30_000]])
  })

  test('an answer of /me', async () => {
    const { shared, budget } = setUp()
    const me = { rateLimitPerMinute: 1, rateLimitPerDay: 2, usage: {} }
    budget.refresh(me, 0)
    await settled()
    expect(shared.calls).toEqual([['told', me]])
  })

  test('in order, each before the next request asks for a slot', async () => {
    const { shared, budget } = setUp()
    const first = held()
    const pause: SharedRequests['pause'] = async ms => {
      if (ms === 1) await first.promise
      await shared.pause(ms)
    }
    const ordered = createBudget({ clock: virtualClock(), shared: { ...shared, pause } })
    ordered.pause(1)
    ordered.pause(2)
    const taken = ordered.take('sync')
    await settled()
    expect(shared.calls).toEqual([])
    first.end()
    await taken
    expect(names(shared.calls)).toEqual(['pause', 'pause', 'take'])
    expect(budget.usage().requestsThisRun).toBe(0)
  })

  test('or the next request fails for the same reason, and nothing else does', async () => {
    const { shared } = setUp()
    const pause = async () => {
      throw new Error('the database is gone')
    }
    const budget = createBudget({ clock: virtualClock(), shared: { ...shared, pause } })
    budget.pause(1)
    await settled()
    expect(await said(budget.take('sync'))).toBe('the database is gone')
    expect(shared.calls).toEqual([])
  })
})

describe('a shared slot', () => {
  test('is asked for with the purpose, and with whether the limits are asked for', async () => {
    const { shared, budget } = setUp()
    await budget.take('reconcile', { asksLimits: true })
    const ended = await budget.take('sync')
    ended()
    expect(shared.calls).toEqual([
      ['take', 'reconcile', true],
      ['take', 'sync', undefined],
    ])
    expect(budget.usage().requestsThisRun).toBe(2)
  })

  test('that is too late by the time it starts is given back, and another one is asked for', async () => {
    const { shared, budget } = setUp({ slots: [{ waitMs: 10, lateMs: 0 }] })
    await budget.take('sync')
    expect(names(shared.calls)).toEqual(['take', 'giveBack', 'take'])
    expect(budget.usage().requestsThisRun).toBe(1)
  })

  test('is refused when the day is spent, with the figures of the day', async () => {
    const { budget } = setUp({ slots: [undefined] })
    expect(await said(budget.take('sync'))).toContain(
      'no request left for a sync (600 of 1,000 used, 400 reserved for others, as counted here)',
    )
    expect(budget.usage().requestsThisRun).toBe(0)
  })

  test.each([
    [longestWait, 'sent'],
    [longestWait + 1, 'the service asks not to be called before 2026-03-02 10:15'],
  ])('in %i ms: %s', async (waitMs, expected) => {
    const { shared, budget } = setUp({ slots: [{ waitMs, lateMs: 1_000 }] })
    expect(await said(budget.take('sync'))).toContain(expected)
    expect(names(shared.calls)).toEqual(expected === 'sent' ? ['take'] : ['take', 'giveBack'])
  })

  test.each([
    [59_998, 'sent'],
    [60_000, 'the deadline of this run'],
  ])('in %i ms with a deadline in 60,000 ms: %s', async (waitMs, expected) => {
    const clock = virtualClock()
    const shared = memoryShare({ slots: [{ waitMs, lateMs: 1_000 }] })
    const budget = createBudget({ clock, shared, deadline: clock.now() + 60_000 })
    expect(await said(budget.take('sync'))).toContain(expected)
    expect(clock.slept).toEqual(expected === 'sent' ? [waitMs + 1] : [])
  })

  test('waits for a pause before it is asked for', async () => {
    const { clock, shared, budget } = setUp()
    budget.pause(30_000)
    await budget.take('sync')
    expect([clock.slept, names(shared.calls)]).toEqual([[30_000], ['pause', 'take']])
  })

  test('is given back when a pause began meanwhile, and asked for again after it', async () => {
    const { clock, shared } = setUp()
    const take: SharedRequests['take'] = async (...parts) => {
      if (shared.calls.length === 0) budget.pause(30_000)
      return shared.take(...parts)
    }
    const budget = createBudget({ clock, shared: { ...shared, take } })
    await budget.take('webhook')
    expect(shared.calls.filter(([name]) => name !== 'pause')).toEqual([
      ['take', 'webhook', undefined],
      ['giveBack', 'webhook'],
      ['take', 'webhook', undefined],
    ])
    expect([clock.slept, budget.usage().requestsThisRun]).toEqual([[30_000], 1])
  })

  test('is used when a pause that began meanwhile has ended', async () => {
    const { clock, shared } = setUp({ slots: [{ waitMs: 0, lateMs: 60_000 }] })
    const take: SharedRequests['take'] = async (...parts) => {
      budget.pause(30_000)
      clock.advance(30_000)
      return shared.take(...parts)
    }
    const budget = createBudget({ clock, shared: { ...shared, take } })
    await budget.take('sync')
    expect(names(shared.calls).filter(name => name !== 'pause')).toEqual(['take'])
  })

  test('is given back once the run is spent by a request that waited with it', async () => {
    const { shared, budget } = setUp({}, { maxRequests: 1 })
    const ends = await Promise.all([said(budget.take('sync')), said(budget.take('sync'))])
    expect(ends).toEqual(['sent', expect.stringContaining('the budget of this run is used up')])
    expect(names(shared.calls)).toEqual(['take', 'take', 'giveBack'])
    expect(budget.usage().requestsThisRun).toBe(1)
  })

  test('is not asked for once the run is spent', async () => {
    const { shared, budget } = setUp({}, { maxRequests: 0 })
    expect(await said(budget.take('sync'))).toContain('the budget of this run is used up')
    expect(shared.calls).toEqual([])
  })
})

describe('the shared day', () => {
  test('is asked although the last answer left nothing: another process may have given some back', async () => {
    const { shared, budget } = setUp({ figures: { spendable: 0 } })
    expect(budget.refusal('sync')?.message).toContain('no request left for a sync')
    await budget.take('sync')
    expect(names(shared.calls)).toEqual(['take'])
  })

  test.each([
    ['sync', { spendable: 1, forEvents: 0 }, true],
    ['sync', { spendable: 0, forEvents: 1 }, false],
    ['webhook', { spendable: 0, forEvents: 1 }, true],
    ['webhook', { spendable: 1, forEvents: 0 }, false],
  ] as const)('has a request left for a %s with %j: %s', (purpose, figures, isLeft) => {
    const { budget } = setUp({ figures })
    expect(budget.refusal(purpose) === undefined).toBe(isLeft)
  })

  test('gives the figures', () => {
    const { budget } = setUp({}, { maxRequests: 100 })
    expect(budget.usage()).toMatchObject({
      ...{ perDay: 1_000, usedToday: 600, remainingToday: 400, leftForEvents: 30 },
      ...{ spendableToday: 150, spendable: 100 },
    })
  })

  test('has a next slot that only a pause delays, whatever this process sent', async () => {
    const clock = virtualClock()
    const shared = memoryShare({ slots: [atOnce, atOnce] })
    const budget = createBudget({ clock, shared, recentRequests: 99 })
    await budget.take('sync')
    expect(clock.slept).toEqual([])
    budget.pause(5_000)
    await budget.take('sync')
    expect(clock.slept).toEqual([5_000])
  })
})
