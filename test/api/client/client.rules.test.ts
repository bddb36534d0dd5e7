/** What the client asks of /me and when, how it reads pages and records, and when a key is refused. */
import { describe, expect, test } from 'vitest'
import { createBudget } from '../../../src/api/budget/budget.ts'
import { createClient } from '../../../src/api/client/client.ts'
import { failure, KEY } from '../service.ts'
import { virtualClock } from '../virtual-clock.ts'
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

describe('a page', () => {
  test('is asked for with page 1 and 200 rows unless told otherwise', async () => {
    const { client, asked } = memoryService(list(450))
    await client.getPage('/sites')
    await client.getPage('/sites', { page: 3, limit: 50, sortBy: 'x' })
    expect(asked.map(({ query }) => Object.fromEntries(query))).toEqual([
      { page: '1', limit: '200' },
      { page: '3', limit: '50', sortBy: 'x' },
    ])
  })

  test('has its bytes, meta, rows and time', async () => {
    const { client } = memoryService(list(1))
    const page = await client.getPage('/sites')
    expect({ ...page, bytes: page.bytes.toString(), records: page.records() }).toEqual({
      bytes: '{"success":true,"data":[{"id":"r0"}],"meta":{"page":1,"limit":200,"total":1}}',
      ...{ meta: { page: 1, limit: 200, total: 1 }, empty: false, records: [{ id: 'r0' }] },
      fetchedAt: '2026-03-02T10:00:00.000Z',
    })
  })

  test.each([{ page: 0 }, { page: 1.5 }, { limit: 201 }, { limit: 0 }, { page: 'x' }])(
    'with %j is refused before anything is sent',
    async query => {
      const { client, asked, me } = memoryService(list(1))
      expect((await failure(client.getPage('/sites', query))).name).toBe('BadRequest')
      expect((await failure(client.getPage('/a b'))).name).toBe('BadRequest')
      expect([asked, me]).toEqual([[], []])
    },
  )

  test('that is too large is read in parts', async () => {
    const { client, asked: all } = memoryService(
      asked => {
        const limit = Number(asked.query.get('limit'))
        return limit > 50 && !asked.query.has('fields') ? { body: 'x'.repeat(20_001) } : listReply(asked, 100)
      },
      { fetchOptions: { maxBytes: 20_000 } },
    )
    expect((await client.getPage('/sites')).records()).toHaveLength(100)
    expect(all.length).toBeGreaterThan(1)
  })
})

describe('a page that is refused', () => {
  const refused: Answering = () => ({ status: 404, body: refusal() })

  test('twice, where the rows end before it, has no rows', async () => {
    const { client, asked } = memoryService(refused)
    const page = await client.getPage('/sites', { page: 3 }, { rows: 400 })
    expect([page.meta, page.empty, page.records(), asked.length]).toEqual([
      ...[{ page: 3, limit: 200, total: 400 }, true, [], 2],
    ])
    expect(page.fetchedAt).toBe('2026-03-02T10:00:00.000Z')
  })

  test('once is asked for again', async () => {
    const { client, asked } = memoryService(inOrder(refused, list(400)))
    const page = await client.getPage('/sites', { page: 2 }, { rows: 200 })
    expect([page.records().length, asked.length]).toEqual([200, 2])
  })

  test.each([
    ['has a row of the list on it', { page: 3 }, { rows: 401 }],
    ['is the first', { page: 1 }, { rows: 0 }],
    ['is of a list about which nothing was said', { page: 3 }, {}],
  ])('fails when it %s', async (_name, query, options) => {
    const { client, asked } = memoryService(refused)
    expect((await failure(client.getPage('/sites', query, options))).name).toBe('NotFound')
    expect(asked).toHaveLength(1)
  })
})

describe('a record', () => {
  test('is read by id', async () => {
    const { client, asked } = memoryService(recordOf({ id: 'a' }))
    const { record, bytes, fetchedAt } = await client.getRecord('/trades/a', { includeRates: true })
    expect([record, bytes.toString(), fetchedAt]).toEqual([
      { id: 'a' },
      ...['{"success":true,"data":{"id":"a"}}', '2026-03-02T10:00:00.000Z'],
    ])
    expect(Object.fromEntries(asked[0]?.query ?? [])).toEqual({ includeRates: 'true' })
  })

  test('that is another one is an error', async () => {
    const { client } = memoryService(recordOf({ id: 'b' }))
    expect((await failure(client.getRecord('/trades/a', { query: 'x' }))).message).toContain(
      'another record than the one that was asked for (GET /trades/a?query=*)',
    )
  })

  test('of a path that is none is not asked for', async () => {
    const { client, asked, me } = memoryService(recordOf({}))
    expect((await failure(client.getRecord('/trades/../me'))).name).toBe('BadRequest')
    expect([asked, me]).toEqual([[], []])
  })
})

describe('a change', () => {
  const write = { method: 'PATCH', path: '/workers/a', body: { lastName: 'Roe' } } as const

  test('is sent as JSON, and its answer may be about another record', async () => {
    const { client, asked } = memoryService(recordOf({ id: 'b' }))
    expect((await client.write({ ...write, query: { dryRun: true } })).record).toEqual({ id: 'b' })
    expect(asked.map(({ method, body, query }) => [method, body, `${query}`])).toEqual([
      ['PATCH', '{"lastName":"Roe"}', 'dryRun=true'],
    ])
  })

  test.each([
    ['/workers/../me', {}, '"/workers/../me" is not a path (PATCH)'],
    ['/workers/a', { x: 'x'.repeat(50 * 1024 * 1024) }, 'more than 50 MB (PATCH /workers/a?query=*)'],
  ])('to %s is not sent when it cannot be right', async (path, body, message) => {
    const { client, asked, me } = memoryService(recordOf({}))
    const error = await failure(client.write({ ...write, path, body, query: { query: 'x' } }))
    expect([error.message.includes(message), asked, me]).toEqual([true, [], []])
  })
})

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
    expect((await failure(client.getPage('/sites'))).name).toBe('Retriable')
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

test('a client that is closed closes its connections', async () => {
  const service = memoryService(list(0))
  await service.client.getMe()
  expect(service.isClosed).toBe(false)
  await service.client.close()
  expect(service.isClosed).toBe(true)
})

test('a client says who it is, with its version', async () => {
  const { client, asked } = memoryService(list(0), { version: '1.2' })
  await client.getPage('/sites')
  expect(asked[0]?.headers).toMatchObject({ 'user-agent': 'muster/1.2', authorization: `Bearer ${KEY}` })
})

test('a request that is refused by its run is not sent', async () => {
  const clock = virtualClock()
  const budget = createBudget({ clock, maxRequests: 1 })
  const { client, asked } = memoryService(list(0), { clock, budget })
  expect((await failure(client.getPage('/sites'))).name).toBe('BudgetSpent')
  expect([asked, client.refusal('sync')?.exitCode]).toEqual([[], 75])
})

test('an address or a key that cannot be right is refused at once', () => {
  const clock = virtualClock()
  const make = (baseUrl: string, apiKey: string) => () =>
    createClient({ baseUrl, apiKey, clock, rng: () => 0 })
  expect(make('https://h/api', '')).toThrow('the API key is empty')
  expect(make('http://h/api', 'k')).toThrow('is not https')
})
