/** When /me is asked for, whose reserve pays, and when a key is refused. */
import { describe, expect, test } from 'vitest'
import { createBudget } from '../../../src/api/budget/budget.ts'
import { failure } from '../../support/http-service.ts'
import { virtualClock } from '../../support/virtual-clock.ts'
import { type Answering, answerMe, listReply, memoryService, refusal } from './memory-service.ts'

const minute = 60_000
const list =
  (total: number): Answering =>
  asked =>
    listReply(asked, total)
const recordOf =
  (record: object): Answering =>
  () => ({ body: { success: true, data: record } })
const unauthorized: Answering = () => ({ status: 401, body: refusal('UNAUTHORIZED', 'no such key') })
/** The first answers of a path in order, then the last one. */
const inOrder =
  (...answers: readonly Answering[]): Answering =>
  asked =>
    (answers[Math.min(asked.nth, answers.length) - 1] as Answering)(asked)

describe('/me', () => {
  test('comes first, once for calls that start together, and brings the limits', async () => {
    const { client, me, asked } = memoryService(list(0))
    await Promise.all([client.getPage('/sites'), client.getPage('/users'), client.getMe()])
    expect([me.length, asked.length]).toEqual([1, 2])
    expect(await client.getMe()).toMatchObject({ kind: 'company', rateLimitPerDay: 10_000 })
    expect(client.usage()).toMatchObject({ perMinute: 600, perDay: 10_000, requestsThisRun: 3 })
  })

  test.each([
    [15 * minute - 1, 1],
    [15 * minute, 2],
  ])('is %i ms old when something is asked for: asked for %i times', async (passed, times) => {
    const { client, clock, me } = memoryService(inOrder(list(0)))
    await client.getMe()
    clock.advance(passed)
    await client.getPage('/sites')
    await client.getRecord('/trades/a').catch(() => undefined)
    expect(me).toHaveLength(times)
  })

  test('is asked for before a record and before a change too', async () => {
    const { client, clock, me } = memoryService(recordOf({ id: 'a' }))
    await client.getRecord('/trades/a')
    expect(me).toHaveLength(1)
    clock.advance(15 * minute)
    await client.write({ method: 'POST', path: '/workers', body: {} })
    expect(me).toHaveLength(2)
  })

  test('that fails is asked for again by the next call', async () => {
    const { client, me } = memoryService(list(0), {
      me: inOrder(() => ({ status: 404, body: refusal() }), answerMe()),
    })
    expect((await failure(client.getMe())).name).toBe('NotFound')
    expect((await client.getMe()).kind).toBe('company')
    expect(me).toHaveLength(2)
  })

  test('that fails later leaves the earlier answer in force, for 15 minutes', async () => {
    const { client, clock, me } = memoryService(list(0), {
      me: inOrder(answerMe({ rateLimitPerDay: 777 }), () => ({ status: 500, body: refusal() })),
    })
    await client.getMe()
    clock.advance(16 * minute)
    await client.getPage('/sites')
    expect([client.usage().perDay, me.length]).toEqual([777, 7])
    clock.advance(14 * minute)
    await client.getPage('/sites')
    expect(me).toHaveLength(7)
  })

  test('that fails first fails the call', async () => {
    const { client, asked } = memoryService(list(0), { me: () => ({ status: 500, body: refusal() }) })
    expect((await failure(client.getPage('/sites'))).name).toBe('RetriableError')
    expect(asked).toEqual([])
  })

  test('that the key may not read fails the call, though it was read before', async () => {
    const { client, clock } = memoryService(list(0), {
      me: inOrder(answerMe(), () => ({ status: 403, body: refusal() })),
    })
    await client.getMe()
    clock.advance(16 * minute)
    expect((await failure(client.getPage('/sites'))).name).toBe('AccessDenied')
  })

  test('that cannot be paid for any more leaves the earlier answer in force', async () => {
    const clock = virtualClock()
    const budget = createBudget({ clock, perDay: 100 })
    const me = answerMe({ rateLimitPerDay: 100, rateLimitPerMinute: 1_000, usage: {} })
    const { client, me: asked } = memoryService(list(0), { clock, budget, me })
    await client.getMe()
    while (!budget.refusal('operator')) (await budget.take('operator'))()
    clock.advance(16 * minute)
    expect((await client.getPage('/a', {}, { purpose: 'webhook' })).empty).toBe(true)
    expect(asked).toHaveLength(1)
  })

  test('counts as sent since it was asked for: the service may not have counted it', async () => {
    const { client } = memoryService(list(0), { me: answerMe({ usage: { remainingToday: 1_000 } }) })
    await client.getMe()
    expect(client.usage().remainingToday).toBe(999)
  })
})

describe('who pays', () => {
  const spentOf = async (purpose: 'sync' | 'webhook' | undefined, work: 'page' | 'record' | 'me') => {
    const clock = virtualClock()
    const budget = createBudget({ clock })
    const { client } = memoryService(
      asked =>
        asked.path === '/sites' ? listReply(asked, 0) : { body: { success: true, data: { id: 'a' } } },
      {
        ...{ clock, budget, ...(purpose && { purpose }) },
      },
    )
    if (work === 'page') await client.getPage('/sites')
    if (work === 'record') await client.getRecord('/trades/a')
    await client.getMe()
    return client.usage().forEventsToday
  }

  test.each([
    [undefined, 'page', 0],
    ['sync', 'page', 0],
    ['webhook', 'page', 2],
    ['webhook', 'record', 2],
    ['webhook', 'me', 1],
    [undefined, 'record', 0],
  ] as const)(
    'for a client of %s that reads a %s: %i requests of events',
    async (...[purpose, work, spent]) => {
      expect(await spentOf(purpose, work)).toBe(spent)
    },
  )

  test.each(['page', 'record'])('the purpose that a call names pays for its %s', async work => {
    const { client } = memoryService(work === 'page' ? list(0) : recordOf({ id: 'a' }))
    const options = { purpose: 'webhook' } as const
    await (work === 'page'
      ? client.getPage('/sites', {}, options)
      : client.getRecord('/trades/a', {}, options))
    expect(client.usage().forEventsToday).toBe(1)
  })
})

describe('401', () => {
  test('of /me, twice, refuses the key, a second apart', async () => {
    const { client, me } = memoryService(list(0), { me: unauthorized })
    const error = await failure(client.getPage('/sites'))
    expect([error.name, error.exitCode]).toEqual(['KeyRefused', 78])
    expect(me.map(({ at }) => at)).toEqual([0, 1_000])
  })

  test('of /me, once, is a slip', async () => {
    const { client } = memoryService(list(1), { me: inOrder(unauthorized, answerMe()) })
    expect((await client.getPage('/sites')).meta.total).toBe(1)
  })

  test('of one request while /me accepts the key is a slip', async () => {
    const { client, asked, me } = memoryService(inOrder(unauthorized, list(1)))
    expect((await client.getPage('/sites')).meta.total).toBe(1)
    expect([asked.map(({ at }) => at), me.map(({ at }) => at)]).toEqual([
      [0, 1_000],
      [0, 1_000],
    ])
  })

  test('of a request twice is a failure of that request, which /me excuses', async () => {
    const { client } = memoryService(unauthorized)
    const error = await failure(client.getPage('/sites'))
    expect([error.exitCode, error.message]).toEqual([
      1,
      expect.stringContaining(
        'refuses the API key here, and accepts it for /me (GET /sites?page=1&limit=200, sent 2 times',
      ),
    ])
  })

  test('and then another failure is that failure', async () => {
    const { client } = memoryService(inOrder(unauthorized, () => ({ status: 404, body: refusal() })))
    expect((await failure(client.getRecord('/trades/a'))).name).toBe('NotFound')
  })

  test('of many requests at once asks /me once, and once more for the next', async () => {
    const { client, me } = memoryService(unauthorized)
    await client.getMe()
    const errors = await Promise.all(['/a', '/b', '/c'].map(path => failure(client.getPage(path))))
    expect([errors.map(({ exitCode }) => exitCode), me.length]).toEqual([[1, 1, 1], 2])
    await failure(client.getPage('/d'))
    expect(me).toHaveLength(3)
  })

  test('that /me confirms refuses the key for all', async () => {
    const { client, asked } = memoryService(unauthorized, { me: inOrder(answerMe(), unauthorized) })
    expect((await failure(client.getPage('/sites'))).exitCode).toBe(78)
    expect(asked).toHaveLength(1)
  })

  test('makes the answer of /me the newest', async () => {
    const { client, clock, me } = memoryService(inOrder(unauthorized, list(0)))
    await client.getMe()
    clock.advance(14 * minute)
    await client.getPage('/sites')
    clock.advance(14 * minute)
    await client.getPage('/sites')
    expect(me).toHaveLength(2)
  })

  test('is looked into until the run is stopped', async () => {
    const clock = virtualClock()
    const stop = new AbortController()
    const signals: unknown[] = []
    const sleep: typeof clock.sleep = (ms, signal) => {
      signals.push(signal)
      return clock.sleep(ms)
    }
    const { client } = memoryService(inOrder(unauthorized, list(0)), {
      ...{ clock: { ...clock, sleep }, signal: stop.signal },
    })
    await client.getPage('/sites')
    expect(signals).toEqual([stop.signal])
  })
})
