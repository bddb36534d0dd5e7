/** The day and its reserves, the limits of a run. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BudgetOptions, createBudget } from '../../src/api/budget/budget.ts'
import type { Purpose } from '../../src/api/budget/day.ts'
import { createClient } from '../../src/api/client/client.ts'
import { readKey } from '../../src/api/client/key.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { BudgetSpent } from '../../src/lib/errors.ts'
import { answerMe, failure, json, KEY, listPage, startService, withClient } from '../support/http-service.ts'
import { virtualClock } from '../support/virtual-clock.ts'

const minute = { take: async () => () => {}, resize: () => {} }

function dayBudget(perDay: number, usage: object = {}, options: Partial<BudgetOptions> = {}) {
  const clock = virtualClock()
  const budget = createBudget({ clock, minute, ...options })
  const me = readKey({ rateLimitPerMinute: 60, rateLimitPerDay: perDay, usage }, Buffer.alloc(0))
  budget.refresh(me, 0)
  return { clock, budget, me }
}

/** How many requests of a purpose go out before BudgetSpent. */
async function exhaust(budget: ReturnType<typeof createBudget>, purpose: Purpose): Promise<number> {
  for (let count = 0; ; count++) {
    try {
      await budget.take(purpose)
    } catch (error) {
      expect(error).toBeInstanceOf(BudgetSpent)
      return count
    }
  }
}

describe('the day', () => {
  it('keeps a quarter back from sync: webhooks 10%, reconciliation 10%, the operator 5%', async () => {
    const { budget } = dayBudget(1_000)
    expect(await exhaust(budget, 'sync')).toBe(750)
    expect(await exhaust(budget, 'webhook')).toBe(100)
    expect(await exhaust(budget, 'reconcile')).toBe(100)
    expect(await exhaust(budget, 'operator')).toBe(50)
    expect(budget.usage()).toMatchObject({ usedToday: 1_000, remainingToday: 0, spendable: 0 })
  })

  it('lets a reserve shrink by what its own purpose used, which takes more where it is no event', async () => {
    const { budget } = dayBudget(1_000)
    for (let index = 0; index < 100; index++) await budget.take('reconcile')
    expect(budget.usage().spendable).toBe(750)
    expect(await exhaust(budget, 'reconcile')).toBe(750)
    expect(await exhaust(budget, 'sync')).toBe(0)
  })

  it('gives events their share and no more, earlier processes included', async () => {
    const { budget } = dayBudget(1_000)
    expect(await exhaust(budget, 'webhook')).toBe(100)
    expect(budget.usage()).toMatchObject({ spendable: 750, leftForEvents: 0, forEventsToday: 100 })
    const later = dayBudget(1_000, {}, { eventsToday: 60, perDay: 1_000 })
    expect(later.budget.usage()).toMatchObject({ leftForEvents: 40, usedToday: 60, spendable: 750 })
    expect(await exhaust(later.budget, 'webhook')).toBe(40)
  })

  it('knows the share of events before the service has reported its limits', async () => {
    const clock = virtualClock()
    const budget = createBudget({ clock, minute, eventsToday: 600, perDay: 10_000 })
    expect(budget.usage().leftForEvents).toBe(400)
  })

  it('believes the lower of the own count and the service', async () => {
    const { budget } = dayBudget(1_000, { remainingToday: 300 })
    expect(budget.usage()).toMatchObject({ usedToday: 700, remainingToday: 300, spendable: 50 })
    const own = dayBudget(1_000, { remainingToday: 1_000 }, { usedToday: 600 })
    expect(own.budget.usage()).toMatchObject({ usedToday: 600, spendable: 150 })
    const counted = dayBudget(1_000, { requestsToday: 990 })
    expect(counted.budget.usage().remainingToday).toBe(10)
  })

  it('takes off what was sent while /me was asked', async () => {
    const { budget, me } = dayBudget(1_000, { remainingToday: 500 })
    const before = budget.usage().requestsThisRun
    for (let index = 0; index < 7; index++) await budget.take('sync')
    budget.refresh(me, before)
    expect(budget.usage().remainingToday).toBe(493)
  })

  it('ends with when it begins anew, and begins anew then', async () => {
    const { budget, clock } = dayBudget(100, { remainingToday: 0, resetsAt: '2026-03-03T00:00:00Z' })
    const error = await failure(budget.take('sync'))
    expect(error.exitCode).toBe(75)
    expect(error.message).toBe(
      'the quota of the day has no request left for a sync (100 of 100 used): the service starts a new count at 2026-03-03 00:00 UTC; run again then',
    )
    clock.set('2026-03-02T23:59:59.999Z')
    expect(await exhaust(budget, 'operator')).toBe(0)
    clock.set('2026-03-03T00:00:00.000Z')
    expect(budget.usage()).toMatchObject({ usedToday: 0, remainingToday: 100, spendable: 75 })
    expect(budget.usage().resetsAt).toBe('2026-03-04T00:00:00.000Z')
  })

  it.each([
    [undefined, '2026-03-03T00:00:00.000Z'],
    ['tomorrow', '2026-03-03T00:00:00.000Z'],
    ['9999-01-01T00:00:00Z', '2026-03-03T00:00:00.000Z'],
    ['2026-03-02T18:00:00Z', '2026-03-02T18:00:00.000Z'],
    // Past: the clocks differ. Believed for 15 minutes, the interval of /me.
    ['2026-03-02T00:00:00Z', '2026-03-02T10:15:00.000Z'],
  ])('with resetsAt %j begins anew at %s', (resetsAt, expected) => {
    const { budget } = dayBudget(100, { remainingToday: 3, resetsAt })
    expect(budget.usage().resetsAt).toBe(expected)
    expect(budget.usage().remainingToday).toBe(3)
  })

  it('used by earlier processes beyond the default does not keep /me from telling the limit', async () => {
    const budget = createBudget({ clock: virtualClock(), minute, usedToday: 90_000 })
    await budget.take('operator')
    budget.refresh(readKey({ rateLimitPerDay: 100_000 }, Buffer.alloc(0)), 0)
    expect(budget.usage()).toMatchObject({ usedToday: 90_001, remainingToday: 9_999 })
  })

  it('leaves webhooks their part when /me can not be paid for any more', async () => {
    const clock = virtualClock()
    const budget = createBudget({ clock, minute })
    const service = await startService(
      (asked, response) => json(response, 200, listPage(asked, 1)),
      answerMe({ rateLimitPerDay: 100, usage: {} }),
    )
    const client = createClient({ baseUrl: service.baseUrl, apiKey: KEY, clock, rng: () => 0, budget })
    await client.getMe()
    await exhaust(budget, 'operator')
    clock.advance(20 * 60_000)
    expect((await client.getPage('/a', {}, { purpose: 'webhook' })).meta.total).toBe(1)
    expect((await failure(client.getPage('/a'))).message).toMatch(
      /for a sync \(\d+ of 100 used, \d+ reserved for others, as counted here\)/,
    )
    expect(service.me).toHaveLength(1)
    await client.close()
    await service.close()
  })

  it('never lets out more than the service has left, whatever the mix', async () => {
    const purposes = fc.constantFrom<Purpose>('sync', 'reconcile', 'webhook', 'operator')
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 60 }),
        fc.nat(60),
        fc.array(purposes),
        async (perDay, left, takes) => {
          const { budget } = dayBudget(perDay, { remainingToday: left })
          let sent = 0
          for (const purpose of takes) {
            sent += await budget.take(purpose).then(
              () => 1,
              () => 0,
            )
          }
          expect(sent).toBeLessThanOrEqual(Math.min(perDay, left))
          expect(budget.usage().requestsThisRun).toBe(sent)
        },
      ),
    )
  })
})

describe('a run', () => {
  it('sends no more than maxRequests, /me and repetitions included', async () => {
    const budget = createBudget({ clock: systemClock, maxRequests: 4 })
    await withClient(
      (asked, response) =>
        asked.nth === 1 ? json(response, 500, '') : json(response, 200, listPage(asked, 1)),
      async (client, service) => {
        await client.getPage('/a')
        const error = await failure(Promise.all([client.getPage('/a'), client.getPage('/a')]))
        expect(error.message).toBe(
          'the budget of this run is used up, 4 requests: run again to continue, or raise --max-requests',
        )
        await systemClock.sleep(20)
        expect(service.asked.length + service.me.length).toBe(4)
        expect(client.usage().spendable).toBe(0)
      },
      { budget },
    )
  })

  it('sends nothing from the deadline on, and lets what is on its way finish', async () => {
    const clock = virtualClock()
    const deadline = clock.now() + 60_000
    const budget = createBudget({ clock, deadline, minute })
    const service = await startService((asked, response) => {
      clock.set(deadline)
      json(response, 200, listPage(asked, 1))
    })
    const client = createClient({ baseUrl: service.baseUrl, apiKey: KEY, clock, rng: () => 0, budget })
    expect((await client.getPage('/a')).meta.total).toBe(1)
    const error = await failure(client.getPage('/a'))
    expect([error.exitCode, error.message]).toEqual([75, expect.stringContaining('deadline')])
    expect(service.asked).toHaveLength(1)
    await client.close()
    await service.close()
  })

  it('does not wait for a moment that lies behind the deadline', async () => {
    const clock = virtualClock()
    const budget = createBudget({ clock, deadline: clock.now() + 60_000, minute })
    budget.pause(60_000)
    expect((await failure(budget.take('sync'))).message).toContain('deadline')
    expect(clock.slept).toEqual([])
  })

  it('with no requests left today sends none', () =>
    withClient(
      () => {},
      async (client, service) => {
        expect((await failure(client.getPage('/a'))).name).toBe('BudgetSpent')
        expect(service.asked).toHaveLength(0)
      },
      { me: answerMe({ usage: { remainingToday: 0 } }) },
    ))
})
