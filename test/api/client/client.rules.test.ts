/** How the client reads pages and records, sends changes, and what it refuses. */
import { describe, expect, test } from 'vitest'
import { createBudget } from '../../../src/api/budget/budget.ts'
import { createClient } from '../../../src/api/client/client.ts'
import { failure, KEY } from '../../support/http-service.ts'
import { virtualClock } from '../../support/virtual-clock.ts'
import { type Answering, listReply, memoryService, refusal } from './memory-service.ts'

const list =
  (total: number): Answering =>
  asked =>
    listReply(asked, total)
const recordOf =
  (record: object): Answering =>
  () => ({ body: { success: true, data: record } })
/** The first answers of a path in order, then the last one. */
const inOrder =
  (...answers: readonly Answering[]): Answering =>
  asked =>
    (answers[Math.min(asked.nth, answers.length) - 1] as Answering)(asked)

describe('a page', () => {
  test('is asked for with page 1 and 200 rows by default', async () => {
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
      'a different record than requested (GET /trades/a?query=*)',
    )
  })

  test('with an invalid path is not asked for', async () => {
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
