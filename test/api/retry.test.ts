/** Delays and shares of repetitions, as arithmetic and over the wire. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRetryBudget, longestWait, retryDelay } from '../../src/api/client/retry.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { bare, failure, json, listPage, withClient } from '../support/http-service.ts'
import { virtualClock } from '../support/virtual-clock.ts'

const NOW = Date.parse('2026-03-02T10:00:20.000Z')
const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const moment = fc.integer({ min: 0, max: 4e12 })

describe('retryDelay', () => {
  it('obeys what it was told, to the second, and adds less than a second', () => {
    fc.assert(
      fc.property(
        fc.record({ attempt: fc.integer({ min: 1, max: 9 }), limited: fc.boolean(), now: moment }),
        fc.nat(86_400),
        unit,
        (ask, seconds, jitter) => {
          const delay = retryDelay({ ...ask, retryAfter: String(seconds), rng: () => jitter })
          expect(delay).toBeGreaterThanOrEqual(seconds * 1_000)
          expect(delay).toBeLessThan(seconds * 1_000 + 1_000)
        },
      ),
    )
  })

  it('reads a date as the same wait after the Date of its answer, whatever our clock says', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 86_400 }),
        fc.integer({ min: 0, max: 4e9 }),
        fc.constantFrom(-172_800_000, -7_200_000, 0, 7_200_000, 172_800_000),
        (seconds, second, shift) => {
          const date = new Date(second * 1_000).toUTCString()
          const retryAfter = new Date((second + seconds) * 1_000).toUTCString()
          const now = second * 1_000 + shift
          expect(retryDelay({ attempt: 1, limited: true, retryAfter, date, now, rng: () => 0 })).toBe(
            seconds * 1_000,
          )
        },
      ),
    )
  })

  it.each(['', 'soon', '-5', 'NaN', '1e3', '5 s', '2026-03-02T10:01:00Z', 'Mon, 02 Mar 2026 10:00:19 GMT'])(
    'takes %j as unknown',
    retryAfter => {
      const date = new Date(NOW).toUTCString()
      expect(retryDelay({ attempt: 1, limited: true, retryAfter, date, now: NOW, rng: () => 0 })).toBe(40_000)
    },
  )

  it.each([undefined, '', 'soon', '-5'])(
    'takes a date as unknown when its answer has no time of its own but %j',
    date => {
      const retryAfter = 'Mon, 02 Mar 2026 12:00:00 GMT'
      const ask = { attempt: 1, limited: true, retryAfter, date, now: NOW, rng: () => 0 }
      expect(retryDelay(ask)).toBe(40_000)
    },
  )

  it.each([
    ['86400', 86_400_000],
    ['86401', 86_400_000],
    ['4000000000', 86_400_000],
  ])('waits for at most a day when it is told %s s', (retryAfter, ms) => {
    expect(retryDelay({ attempt: 1, limited: true, retryAfter, now: NOW, rng: () => 0 })).toBe(ms)
  })

  it('waits after 429 to the edge of the minute, and up to 5 s more', () => {
    fc.assert(
      fc.property(moment, unit, fc.integer({ min: 1, max: 6 }), (now, jitter, attempt) => {
        const then = now + retryDelay({ attempt, limited: true, now, rng: () => jitter })
        expect(Math.floor(then / 60_000)).toBe(Math.floor(now / 60_000) + 1)
        expect(then % 60_000).toBeLessThan(5_001)
      }),
    )
  })

  it('else grows from half a second to half a minute, jittered down to nothing', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), unit, (attempt, jitter) => {
        const delay = retryDelay({ attempt, limited: false, now: NOW, rng: () => jitter })
        expect(delay).toBe(Math.floor(jitter * Math.min(30_000, 500 * 2 ** (attempt - 1))))
      }),
    )
  })
})

describe('the share of repetitions', () => {
  it('is never over a tenth, nor refused below the floor', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 400 }), steps => {
        const budget = createRetryBudget()
        let requests = 0
        for (const isRetry of steps) {
          const before = budget.retries
          if (isRetry) expect(budget.spend()).toBe(before + 1 <= Math.max(10, requests * 0.1))
          else {
            budget.sent()
            requests += 1
          }
          expect(budget.retries).toBeLessThanOrEqual(Math.max(10, requests * 0.1))
        }
      }),
    )
  })

  it('ends a run against a service that is down for good', () =>
    withClient(
      (_asked, response) => json(response, 500, ''),
      async (client, service) => {
        await failure(client.getPage('/a'))
        await failure(client.getPage('/b'))
        const error = await failure(client.getPage('/c'))
        expect(error.message).toContain('a tenth of all requests were retries already')
        // 3 first sendings and the floor of 10 repetitions.
        expect(service.asked).toHaveLength(13)
        expect(client.usage().retries).toBe(10)
      },
      { clock: virtualClock() },
    ))
})

describe.concurrent('over the wire', () => {
  it.each([
    ['seconds', () => '1', 1_000],
    // A date is whole seconds: 2 s from now is at least 1 s.
    ['a date', () => new Date(Date.now() + 2_000).toUTCString(), 950],
  ])('429 with Retry-After as %s: nobody sends before', (_name, retryAfter, least) => {
    let told = 0
    return withClient(
      (asked, response) => {
        if (told === 0) {
          told = asked.at
          bare(response, 429, { 'retry-after': retryAfter() })
        } else setTimeout(() => json(response, 200, listPage(asked, 1)), 5)
      },
      async (client, service) => {
        const first = client.getPage('/first')
        await systemClock.sleep(400)
        const others = ['/a', '/b', '/c', '/d'].map(path => client.getPage(path))
        await Promise.all([first, ...others])
        expect(service.asked).toHaveLength(6)
        for (const { at } of service.asked.slice(1)) expect(at - told).toBeGreaterThanOrEqual(least)
      },
      { rng: () => 0.05 },
    )
  })

  it('503 with Retry-After holds up that request only', () =>
    withClient(
      (asked, response) =>
        asked.path === '/busy' && asked.nth === 1
          ? bare(response, 503, { 'retry-after': '1' })
          : json(response, 200, listPage(asked, 1)),
      async (client, service) => {
        const busy = client.getPage('/busy')
        while (service.asked.length === 0) await systemClock.sleep(10)
        await client.getPage('/other')
        await busy
        expect(service.asked.map(({ path }) => path)).toEqual(['/busy', '/other', '/busy'])
        expect(service.asked[2]!.at - service.asked[0]!.at).toBeGreaterThanOrEqual(1_000)
      },
    ))

  it.each([429, 503])('%i with a Retry-After beyond 15 minutes ends the run', status =>
    withClient(
      (_asked, response) => bare(response, status, { 'retry-after': String(longestWait / 1_000 + 1) }),
      async (client, service) => {
        const error = await failure(client.getPage('/a'))
        expect([error.name, error.exitCode]).toEqual(['BudgetSpent', 75])
        expect(error.message).toMatch(/not to be called before \d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? UTC/)
        if (status === 429)
          expect((await failure(client.getPage('/b'))).message).toContain('not to be called before')
        expect(service.asked).toHaveLength(1)
      },
      { clock: virtualClock() },
    ),
  )
})
