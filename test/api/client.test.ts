/** The client against a real server: what it sends, what it hands on, what it asks of /me. */
import { describe, expect, it } from 'vitest'
import { createBudget } from '../../src/api/budget/budget.ts'
import { createClient } from '../../src/api/client/client.ts'
import type { SentRequest } from '../../src/api/client/sender.ts'
import { systemClock } from '../../src/lib/clock.ts'
import {
  answerMe,
  failure,
  json,
  KEY,
  listPage,
  ME,
  startService,
  withClient,
} from '../support/http-service.ts'
import { virtualClock } from '../support/virtual-clock.ts'

describe('a list', () => {
  it('hands on the bytes, the meta and the rows of a page', () =>
    withClient(
      (asked, response) => json(response, 200, listPage(asked, 450)),
      async (client, service) => {
        const page = await client.getPage('/timesheets', { page: 3, sortBy: 'updatedAt', company: undefined })
        expect(page.meta).toEqual({ page: 3, limit: 200, total: 450 })
        expect(page.empty).toBe(false)
        expect(page.records()).toHaveLength(50)
        expect(JSON.parse(page.bytes.toString()).data[0]).toEqual({ id: 'r400' })
        expect(page.fetchedAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
        expect(Object.fromEntries(service.asked[0]!.query)).toEqual({
          page: '3',
          limit: '200',
          sortBy: 'updatedAt',
        })
      },
    ))

  it('sends the key and says who it is', () =>
    withClient(
      (asked, response) => json(response, 200, listPage(asked, 0)),
      async (client, service) => {
        expect((await client.getPage('/sites')).empty).toBe(true)
        const { headers } = service.asked[0]!
        expect(headers.authorization).toBe(`Bearer ${KEY}`)
        expect(headers.accept).toBe('application/json')
        expect(headers['user-agent']).toBe('muster/1.2.3')
        expect(headers['accept-encoding']).toBe('identity')
      },
      { version: '1.2.3' },
    ))

  it.each([{ page: 0 }, { page: 1.5 }, { limit: 201 }, { limit: 0 }, { page: 'x' }])(
    'refuses %j before it costs a request',
    query =>
      withClient(
        () => {},
        async (client, service) => {
          expect((await failure(client.getPage('/sites', query))).name).toBe('BadRequest')
          expect(service.me.length + service.asked.length).toBe(0)
        },
      ),
  )
})

const answers: Readonly<Record<string, object>> = {
  '/trades/short': { id: '65f0c2a1b3d4e5f60718293a' },
  '/requisitions/nano': { id: '65f0c2a1b3d4e5f60718293a', nanoid: 'nano' },
  '/requisitions/other': { id: '65f0c2a1b3d4e5f60718293a', nanoid: 'another' },
  '/trades/65f0c2a1b3d4e5f60718293a': { id: '65f0c2a1b3d4e5f60718293b' },
  '/trades/none': { name: 'no id' },
  '/trades/number': { id: 1 },
  '/companies/c1/competency-matrix': { company: { id: 'c1' }, entries: [] },
  '/companies/c2/competency-matrix': { company: { id: 'c1' }, entries: [] },
}

describe('a record', () => {
  it('is read by id', () =>
    withClient(
      (_asked, response) => json(response, 200, { success: true, data: { id: 'a-1' } }),
      async client => {
        const { record, bytes } = await client.getRecord('/assignments/a-1', { includeConfig: true })
        expect(record).toEqual({ id: 'a-1' })
        expect(bytes.toString()).toBe('{"success":true,"data":{"id":"a-1"}}')
      },
    ))

  it('is an error when it is another one, or has no id; a short id may stand for it', () =>
    withClient(
      ({ path }, response) => {
        const data = answers[path] ?? { id: 'x' }
        json(response, 200, { success: true, data })
      },
      async client => {
        const full = '65f0c2a1b3d4e5f60718293a'
        const read = (path: string) => client.getRecord(path).then(({ record }) => record.id ?? 'read')
        expect(await read('/trades/x')).toBe('x')
        expect(await read('/trades/short')).toBe(full)
        expect(await read('/requisitions/nano')).toBe(full)
        expect(await read('/companies/c1/competency-matrix')).toBe('read')
        const bad = [
          '/trades/y',
          '/trades/none',
          '/trades/number',
          `/trades/${full}`,
          '/companies/c2/competency-matrix',
        ]
        for (const path of [...bad, '/requisitions/other'])
          expect([path, (await failure(client.getRecord(path))).message]).toEqual([
            path,
            expect.stringContaining('bad answer: a different record than requested'),
          ])
      },
    ))

  it.each([
    '/trades/../me',
    '/trades/%2e%2e/me',
    '/trades/a%2Fb',
    '/trades/a?x=1',
    '/trades/a#b',
    '/trades//a',
    'trades',
    '/trades/a\r\nb',
    '/trades/',
    '/trades/ä',
  ])('is not read from %j', path =>
    withClient(
      () => {},
      async (client, service) => {
        expect((await failure(client.getRecord(path))).name).toBe('BadRequest')
        expect(service.asked).toHaveLength(0)
      },
    ),
  )
})

describe('/me', () => {
  it('comes first, and once for calls that start together', () =>
    withClient(
      (asked, response) => json(response, 200, listPage(asked, 0)),
      async (client, service) => {
        await Promise.all([client.getPage('/sites'), client.getPage('/users'), client.getMe()])
        expect(service.me).toHaveLength(1)
        const key = await client.getMe()
        expect(key).toMatchObject({ kind: 'company', rateLimitPerDay: 10_000, companies: [{ id: 'c1' }] })
        expect(JSON.parse(key.bytes.toString()).data).toEqual(ME)
        expect(client.usage()).toMatchObject({ perMinute: 600, perDay: 10_000, requestsThisRun: 3 })
      },
    ))

  it('is asked again after 15 minutes, by whatever is asked next', async () => {
    const clock = virtualClock()
    const service = await startService((asked, response) => json(response, 200, listPage(asked, 0)))
    const client = createClient({ baseUrl: service.baseUrl, apiKey: KEY, clock, rng: () => 0 })
    await client.getPage('/sites')
    clock.advance(14 * 60_000)
    await client.getPage('/sites')
    expect(service.me).toHaveLength(1)
    clock.advance(60_000)
    await client.getPage('/sites')
    expect(service.me).toHaveLength(2)
    await client.close()
    await service.close()
  })

  it('that fails later leaves the earlier answer in force; one that fails first does not', async () => {
    const clock = virtualClock()
    let healthy = true
    const me = answerMe({ rateLimitPerDay: 777 })
    const service = await startService(
      (asked, response) => json(response, 200, listPage(asked, 0)),
      (asked, response, request) => (healthy ? me(asked, response, request) : json(response, 500, {})),
    )
    const options = { baseUrl: service.baseUrl, apiKey: KEY, clock, rng: () => 0 }
    const client = createClient(options)
    await client.getPage('/sites')
    healthy = false
    clock.advance(16 * 60_000)
    await client.getPage('/sites')
    expect(client.usage().perDay).toBe(777)
    const before = service.me.length
    await client.getPage('/sites')
    expect(service.me).toHaveLength(before)
    const late = createClient(options)
    expect((await failure(late.getPage('/sites'))).name).toBe('NotTheService')
    await Promise.all([client.close(), late.close()])
    await service.close()
  })
})

describe('a run', () => {
  it('shows every request to the observer, failed ones too', async () => {
    const seen: SentRequest[] = []
    await withClient(
      (asked, response) =>
        asked.nth === 1 ? json(response, 503, 'busy') : json(response, 200, listPage(asked, 1)),
      client => client.getPage('/sites'),
      { onRequest: one => seen.push(one) },
    )
    expect(seen.map(({ path, status, attempt }) => [path, status, attempt])).toEqual([
      ['/me', 200, 1],
      ['/sites', 503, 1],
      ['/sites', 200, 2],
    ])
    expect(seen[2]!.bytes).toBeGreaterThan(50)
  })

  it('stops with the reason of the signal, without another request', async () => {
    const stop = new AbortController()
    await withClient(
      () => stop.abort(new Error('stopped by hand')),
      async (client, service) => {
        expect((await failure(client.getPage('/sites'))).message).toBe('stopped by hand')
        expect((await failure(client.getPage('/sites'))).message).toBe('stopped by hand')
        expect(service.asked).toHaveLength(1)
      },
      { signal: stop.signal },
    )
  })

  it.each([
    ['the minute', 0],
    ['a pause', 60_000],
  ])('stops while it waits for %s', async (_name, pause) => {
    const stop = new AbortController()
    const budget = createBudget({ clock: systemClock, recentRequests: 60 })
    budget.pause(pause)
    await withClient(
      () => {},
      async (client, service) => {
        setTimeout(() => stop.abort(new Error('stopped by hand')), 20)
        const calls = Array.from({ length: 30 }, () => failure(client.getPage('/sites')))
        for (const error of await Promise.all(calls)) expect(error.message).toBe('stopped by hand')
        expect(service.me).toHaveLength(0)
      },
      { signal: stop.signal, budget },
    )
  })

  it('has no more requests on their way than connections', async () => {
    let open = 0
    let most = 0
    await withClient(
      (asked, response) => {
        open += 1
        most = Math.max(most, open)
        setTimeout(() => {
          open -= 1
          json(response, 200, listPage(asked, 0))
        }, 20)
      },
      client => Promise.all(Array.from({ length: 12 }, () => client.getPage('/sites'))),
      { fetchOptions: { connections: 3 } },
    )
    expect(most).toBe(3)
  })

  it('is over when the client is closed', () =>
    withClient(
      () => {},
      async client => {
        await client.getMe()
        await client.close()
        const error = await failure(client.getPage('/sites'))
        expect(error.message).toContain('closed')
      },
    ))
})

describe('settings that can not be right', () => {
  it.each([
    ['https://api.example.com', 'ends without a path'],
    ['https://api.example.com/', 'ends without a path'],
    ['http://api.example.com/api/open/v1', 'is not https'],
    ['ftp://api.example.com/api', 'is not https'],
    ['http://localhost.evil.com/api', 'is not https'],
    ['https://user:pa55@api.example.com/api', 'carries credentials'],
    ['https://api.example.com/api?x=1', 'carries a query'],
    ['https://api.example.com/api#x', 'carries a query'],
    ['api.example.com/api', 'is not an address'],
  ])('%s %s', (baseUrl, what) => {
    const make = () => createClient({ baseUrl, apiKey: KEY, clock: systemClock, rng: () => 0 })
    expect(make).toThrow(what)
    expect(make).not.toThrow('pa55')
  })

  it.each(['', 'two words', 'line\n', 'ключ'])('the key %j', apiKey => {
    const make = () => createClient({ baseUrl: 'https://h/api', apiKey, clock: systemClock, rng: () => 0 })
    expect(make).toThrow('API key')
  })

  it.each(['http://localhost:1/api/', 'http://127.0.0.2/api', 'http://[::1]:9/api', 'https://h/a/b//'])(
    'but %s can',
    async baseUrl => {
      await createClient({ baseUrl, apiKey: KEY, clock: systemClock, rng: () => 0 }).close()
    },
  )
})
