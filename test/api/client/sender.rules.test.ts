/** One request until it is answered or given up: what is sent again, when, and what is thrown. */
import { describe, expect, test } from 'vitest'
import { createBudget } from '../../../src/api/budget/budget.ts'
import { failure } from '../../support/http-service.ts'
import { virtualClock } from '../../support/virtual-clock.ts'
import { type Answering, done, fails, firstly, listReply, memoryService, offline } from './memory-service.ts'

const hollow: Answering = () => ({
  body: { success: true, data: [], meta: { page: 1, limit: 200, total: 9 } },
})

describe('a failed request is sent again', () => {
  test('six times in all, after waits that double', async () => {
    const { client, asked } = memoryService(fails(503), { rng: () => 0.5 })
    const error = await failure(client.getPage('/a'))
    expect(error.message).toContain('the service failed (GET /a?page=1&limit=200, sent 6 times: 503 C "m")')
    expect(asked.map(({ at }) => at)).toEqual([0, 250, 750, 1_750, 3_750, 7_750])
  })

  test('until it is answered', async () => {
    const { client, asked } = memoryService(firstly(fails(500), offline('ECONNRESET'), fails(408)))
    expect((await client.getPage('/a')).meta.total).toBe(1)
    expect(asked).toHaveLength(4)
  })

  test.each([400, 403, 404, 409])('never after %i', async status => {
    const { client, asked } = memoryService(fails(status))
    await failure(client.getRecord('/trades/a'))
    expect(asked).toHaveLength(1)
  })

  test('no more often than one in ten requests of a run', async () => {
    const { client, asked } = memoryService(fails(500))
    const errors = [await failure(client.getPage('/a')), await failure(client.getPage('/b'))]
    errors.push(await failure(client.getPage('/c')))
    expect(errors.map(({ message }) => message.includes('sent 6 times'))).toEqual([true, true, false])
    expect(errors[2]?.message).toContain('a tenth of all requests were retries already')
    expect([asked.length, client.usage().retries]).toEqual([13, 10])
  })

  test('after the time that the service says, alone', async () => {
    const { client, asked } = memoryService(firstly(fails(503, { 'retry-after': '7' })))
    await client.getPage('/a')
    expect(asked.map(({ at }) => at)).toEqual([0, 7_000])
  })
})

describe('a full minute', () => {
  test('pauses all requests of the key for as long as the service says', async () => {
    const { client, clock } = memoryService(firstly(fails(429, { 'retry-after': '600' })))
    await client.getMe()
    await client.getPage('/a')
    expect(clock.slept).toEqual([600_000])
  })

  test('holds up other requests too, where a failure of one holds up that one', async () => {
    const paused: number[] = []
    const clock = virtualClock()
    const budget = createBudget({ clock, onPause: ms => void paused.push(ms) })
    const { client } = memoryService(
      firstly(fails(503, { 'retry-after': '5' }), fails(429, { 'retry-after': '6' })),
      {
        ...{ clock, budget },
      },
    )
    await client.getPage('/a')
    expect(paused).toEqual([6_000])
  })

  test('without a time lasts until the next minute of the service', async () => {
    const date = 'Mon, 02 Mar 2026 09:59:50 GMT'
    const { client, asked } = memoryService(firstly(fails(429, { date })))
    await client.getPage('/a')
    expect(asked.map(({ at }) => at)).toEqual([0, 10_000])
  })

  test('that lasts six times ends the run, and says why', async () => {
    const { client, asked } = memoryService(fails(429))
    const error = await failure(client.getPage('/a'))
    expect([error.name, error.exitCode, asked.length]).toEqual(['BudgetSpent', 75, 6])
    expect(error.message).toBe(
      'the service still says that the limit of the minute is reached, sent 6 times (GET /a?page=1&limit=200: 429 C "m"): run again in some minutes; if it happens often, another program uses the same key',
    )
    expect((error.cause as Error).name).toBe('RetriableError')
  })

  test('that something in between claims pauses nothing, and fails the request', async () => {
    const paused: number[] = []
    const clock = virtualClock()
    const budget = createBudget({ clock, onPause: ms => void paused.push(ms) })
    const { client, asked } = memoryService(() => ({ status: 429, body: '<html>' }), { clock, budget })
    expect((await failure(client.getPage('/a'))).name).toBe('NotTheService')
    expect([paused, asked.length]).toEqual([[], 6])
  })
})

describe('a wait that the service asks for', () => {
  test.each([
    [429, 900, 'sent'],
    [503, 900, 'sent'],
    [
      429,
      901,
      'the service asks not to be called before 2026-03-02 10:15:01 UTC (GET /a?page=1&limit=200: 429 C "m")',
    ],
    [
      503,
      901,
      'the service asks not to be called before 2026-03-02 10:15:01 UTC (GET /a?page=1&limit=200: 503 C "m")',
    ],
  ])('with %i of %i s: %s', async (status, seconds, expected) => {
    const { client, asked } = memoryService(firstly(fails(status, { 'retry-after': String(seconds) })))
    const found = await client.getPage('/a').then(
      () => 'sent',
      ({ exitCode, report }) => `${report.what} (${report.where})${exitCode === 75 ? '' : ' exit'}`,
    )
    expect(found.replace(':01 UTC', ' UTC')).toBe(expected.replace(':01 UTC', ' UTC'))
    expect(asked).toHaveLength(expected === 'sent' ? 2 : 1)
  })

  test.each([
    [900, 2],
    [901, 1],
  ])('of %i s by something in between fails that request alone: sent %i times', async (seconds, times) => {
    const headers = { 'retry-after': String(seconds) }
    const { client, asked } = memoryService(({ nth, ...rest }) =>
      nth === 1 ? { status: 429, headers, body: '<html>' } : listReply({ nth, ...rest }, 1),
    )
    const found = await client.getPage('/a').catch(error => error)
    expect(asked).toHaveLength(times)
    if (times === 1)
      expect([found.name, found.message]).toEqual([
        'NotTheService',
        expect.stringContaining('asked to wait too long'),
      ])
    expect(client.refusal('sync')).toBeUndefined()
  })
})

describe('a host without a connection', () => {
  test('that never answered is tried for five seconds, at most twice a second', async () => {
    const { client, clock, me } = memoryService(done, { me: offline('ECONNREFUSED') })
    const from = clock.now()
    const error = await failure(client.getMe())
    expect(clock.now() - from).toBe(5_000)
    expect(me.map(({ at }) => at).slice(0, 3)).toEqual([0, 500, 1_000])
    expect(error.message).toMatch(/tried 11 times in 5 s: ECONNREFUSED.*--wait 10m keeps trying/)
  })

  test('is tried later where the wait of the attempt is longer', async () => {
    const { client, me } = memoryService(done, { me: offline('ECONNREFUSED'), rng: () => 0.999 })
    await failure(client.getMe())
    expect(me.map(({ at }) => at)).toEqual([0, 500, 1_499, 3_497, 5_000])
  })

  test('is awaited by each caller whose deadline allows it, and notified once', async () => {
    const said: string[] = []
    const { client, clock } = memoryService(done, {
      ...{
        me: offline('ECONNREFUSED'),
        patienceMs: 20_000,
        onUnreached: sentence => void said.push(sentence),
      },
    })
    const from = clock.now()
    await failure(client.getMe())
    expect([clock.now() - from, said.length]).toEqual([20_000, 1])
  })

  test('that answered before gets six attempts', async () => {
    const { client, asked } = memoryService(offline('ECONNREFUSED'))
    expect((await failure(client.getPage('/a'))).message).toContain('sent 6 times')
    expect(asked).toHaveLength(6)
  })

  test('that answered with a failure has answered', async () => {
    const me = firstly(fails(500), ...Array<Answering>(6).fill(offline('ECONNREFUSED')))
    const { client, me: asked } = memoryService(done, { me })
    expect((await failure(client.getMe())).message).toContain('sent 6 times')
    expect(asked).toHaveLength(6)
  })

  test('that answered another request meanwhile may only be restarting', async () => {
    const { client } = memoryService(firstly(fails(500), offline('ECONNREFUSED')))
    expect((await client.getPage('/a')).meta.total).toBe(1)
  })
})

describe('a page that comes without the rows of its total', () => {
  test('is a bad answer, which is asked for again', async () => {
    const { client, asked } = memoryService(firstly(hollow))
    expect((await client.getPage('/a')).empty).toBe(false)
    expect(asked).toHaveLength(2)
    const empty = memoryService(hollow)
    expect((await failure(empty.client.getPage('/a'))).message).toContain(
      'bad answer: page 1 is empty although the total is 9 (GET /a?page=1&limit=200, sent 6 times: 200)',
    )
  })

  test('is accepted the third time where a list may hide its rows', async () => {
    const { client, asked } = memoryService(hollow, { rng: () => 0.5 })
    expect((await client.getPage('/a', {}, { mayBeHollow: true })).empty).toBe(true)
    expect(asked.map(({ at }) => at)).toEqual([0, 250, 750])
    expect(client.usage().retries).toBe(2)
  })

  test('is rejected while it comes only once or twice', async () => {
    const { client, asked } = memoryService(firstly(hollow, hollow))
    expect((await client.getPage('/a', {}, { mayBeHollow: true })).empty).toBe(false)
    expect(asked).toHaveLength(3)
  })

  test('is accepted immediately when no retry is left', async () => {
    const clock = virtualClock()
    const budget = createBudget({ clock })
    while (budget.spendRetry());
    const { client, asked } = memoryService(hollow, { clock, budget })
    expect((await client.getPage('/a', {}, { mayBeHollow: true })).empty).toBe(true)
    expect(asked).toHaveLength(1)
  })
})

describe('a refusal after a bad answer', () => {
  const spoiled: Answering = () => ({ body: '{"success":true,"data":[' })

  test('is a failure of that answer, as one that was just answered may read this', async () => {
    const { client } = memoryService(firstly(spoiled, fails(403)))
    const error = await failure(client.getPage('/a'))
    expect([error.name, error.message]).toEqual([
      'BadAnswer',
      expect.stringContaining('and then refused: 200'),
    ])
  })

  test.each([
    ['a failure of the service', firstly(fails(500), fails(403)), 'AccessDenied'],
    ['a lost connection', firstly(offline('ECONNRESET'), fails(403)), 'AccessDenied'],
    ['a bad answer, with another refusal', firstly(spoiled, fails(404)), 'NotFound'],
  ])('after %s it is what it is', async (_name, answering, name) => {
    const { client } = memoryService(answering)
    expect((await failure(client.getPage('/a'))).name).toBe(name)
  })
})
