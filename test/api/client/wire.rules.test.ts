/** One exchange: what is sent, how much of an answer is read, and what a refusal becomes. */
import { gzipSync } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { describe, expect, test } from 'vitest'
import type { Agent } from '../../../src/api/agent.ts'
import { type FetchOptions, Wire, type WireRequest } from '../../../src/api/client/wire.ts'
import { broken, type Reply, refusal, responseOf } from './memory-service.ts'

type Sent = Dispatcher.RequestOptions & { readonly signal: AbortSignal }

const baseUrl = 'https://h.example:8443/api/open/v1/'

interface Setting {
  readonly limits?: FetchOptions
  readonly signal?: AbortSignal
  readonly apiKey?: string
}

/** A wire whose one request is answered by a function, and what its observer saw. */
function setUp(
  answer: (sent: Sent) => Reply | Promise<Reply>,
  { limits = {}, signal, apiKey = 'sk_1' }: Setting = {},
) {
  const sent: Sent[] = []
  const seen: (readonly [number, number])[] = []
  const request = async (options: Sent) => {
    sent.push(options)
    return responseOf(await answer(options))
  }
  const agent = { request, destroy: async () => undefined } as unknown as Agent
  const wire = new Wire({ baseUrl, apiKey, version: '1.2', limits, signal, proxies: {}, agent })
  const send = (parts: Partial<WireRequest> = {}) =>
    wire.send({
      ...{ method: 'GET', path: '/a', query: {} },
      ...parts,
      seen: (...all) => void seen.push(all),
    })
  const failure = async (parts: Partial<WireRequest> = {}) =>
    send(parts).then(
      () => Promise.reject(new Error('expected a failure')),
      error => error,
    )
  return { wire, sent, seen, send, failure }
}

const text = (body: string, parts: Omit<Reply, 'body'> = {}) => setUp(() => ({ ...parts, body }))

describe('a request', () => {
  test('goes to the host of the settings, with the key and without compression', async () => {
    const { sent, send } = text('{}')
    await send({ query: { page: 2, company: undefined, query: 'a b&c', flag: false } })
    expect(sent[0]).toEqual({
      ...{ origin: 'https://h.example:8443', method: 'GET', signal: expect.any(AbortSignal) },
      path: '/api/open/v1/a?page=2&query=a+b%26c&flag=false',
      headers: {
        ...{ authorization: 'Bearer sk_1', accept: 'application/json' },
        ...{ 'accept-encoding': 'identity', 'user-agent': 'muster/1.2' },
      },
    })
  })

  test('has no question mark without parameters, and a body only where there is one', async () => {
    const { sent, send } = text('{}')
    await send({ query: { company: undefined } })
    await send({ method: 'POST', body: '' })
    expect(sent.map(({ path }) => path)).toEqual(['/api/open/v1/a', '/api/open/v1/a'])
    expect(sent.map(options => [Object.hasOwn(options, 'body'), options.body])).toEqual([
      [false, undefined],
      [true, ''],
    ])
    const types = sent.map(({ headers }) => (headers as Record<string, string>)['content-type'])
    expect(types).toEqual([undefined, 'application/json'])
    expect(sent[1]?.headers).toMatchObject({ authorization: 'Bearer sk_1' })
  })

  test('shares at most 8 connections by default', () => {
    expect(text('').wire.connections).toBe(8)
    expect(setUp(() => ({}), { limits: { connections: 3 } }).wire.connections).toBe(3)
  })
})

describe('an answer', () => {
  test('is handed on with its date, and seen with status and bytes', async () => {
    const { seen, send } = text('{"a":1}', { status: 201, headers: { date: ['d1', 'd2'] } })
    const { body, date } = await send()
    expect([body.toString(), date, seen]).toEqual(['{"a":1}', 'd1', [[201, 7]]])
  })

  test.each([
    [200, true],
    [299, true],
    [300, false],
  ])('with %i is success: %s', async (status, isSuccess) => {
    const { send } = text(JSON.stringify({ success: true, data: 1 }), { status })
    expect(
      await send().then(
        () => true,
        () => false,
      ),
    ).toBe(isSuccess)
  })

  const pieces = ['{"a":', '"', 'x'.repeat(70_000), 'y'.repeat(70_000), 'z', '"}'].map(part =>
    Buffer.from(part),
  )
  const whole = Buffer.concat(pieces)

  test.each<[string, string | undefined]>([
    ['a header with its length', String(whole.length)],
    ['a header with a smaller length', '10'],
    ['a header with a larger length', String(whole.length + 1)],
    ['a header with no number', 'x'],
    ['a header beyond the cap', '99999999999'],
    ['no header', undefined],
  ])('in pieces is put together after %s', async (_name, length) => {
    const headers = length === undefined ? {} : { 'content-length': length }
    const { send } = setUp(() => ({ headers, body: pieces }))
    expect((await send()).body.equals(whole)).toBe(true)
  })

  test.each([
    [100, 'read'],
    [101, 'AnswerTooLarge'],
  ])('of %i bytes where 100 are allowed: %s', async (size, expected) => {
    const halves = [Buffer.alloc(50, 'x'), Buffer.alloc(size - 50, 'x')]
    const { seen, send } = setUp(() => ({ body: halves }), { limits: { maxBytes: 100 } })
    const found = await send().then(
      () => 'read',
      ({ name }) => name,
    )
    expect([found, seen]).toEqual([expected, [[200, expected === 'read' ? size : 0]]])
  })

  test('that is too large is not read to its end, and says so', async () => {
    let given = 0
    async function* endless() {
      for (;;) {
        given += 1
        yield Buffer.alloc(60)
      }
    }
    const agent = {
      request: async () => ({ statusCode: 200, headers: {}, body: endless() }),
    } as unknown as Agent
    const limits = { maxBytes: 100 }
    const wire = new Wire({
      baseUrl,
      apiKey: 'k',
      version: '1',
      limits,
      signal: undefined,
      proxies: {},
      agent,
    })
    const sent = wire.send({ method: 'GET', path: '/a', query: {}, seen: () => undefined })
    await expect(sent).rejects.toThrow('more than 100 bytes (GET /a: 200)')
    expect(given).toBe(2)
  })

  test('that grows beyond the cap when decompressed is too large', async () => {
    const zipped = (size: number) => ({
      headers: { 'content-encoding': 'gzip' },
      body: [gzipSync(Buffer.alloc(size, 'x'))],
    })
    const limits = { maxBytes: 1_000 }
    expect((await setUp(() => zipped(1_000), { limits }).send()).body).toHaveLength(1_000)
    expect((await setUp(() => zipped(1_001), { limits }).failure()).name).toBe('AnswerTooLarge')
  })

  test('may have 32 MiB by default', async () => {
    const { failure, send } = setUp(({ path }) => ({
      body: [Buffer.alloc(32 * 1024 * 1024 + (path.endsWith('/more') ? 1 : 0), 'x')],
    }))
    expect((await send()).body).toHaveLength(33_554_432)
    expect((await failure({ path: '/more' })).name).toBe('AnswerTooLarge')
  })
})

describe('a refusal', () => {
  test('has status, words and headers, and shows what was sent without its values', async () => {
    const headers = { 'retry-after': ['7', '8'], date: 'd1', location: 'https://other.example/login?token=1' }
    const { seen, failure } = setUp(() => ({ status: 403, headers, body: refusal('E', 'no sk_1 for Roe') }))
    const { facts } = await failure({ method: 'POST', query: { query: 'Jane' }, hide: ['Roe'] })
    expect(facts).toEqual({
      ...{ request: 'POST /a?query=*', isWrite: true, status: 403, code: 'E' },
      ...{ message: 'no [key] for [value]', retryAfter: '7', date: 'd1' },
      location: 'https://other.example',
    })
    expect(seen[0]?.[0]).toBe(403)
  })

  test('of a read is no refusal of a write', async () => {
    const { failure } = setUp(() => ({ status: 400, body: refusal() }))
    expect((await failure()).facts).toMatchObject({
      isWrite: false,
      location: undefined,
      retryAfter: undefined,
    })
  })

  test.each([
    ['/login', 'https://h.example:8443'],
    ['https://sk_1.example/x', 'https://[key].example'],
    ['http://[', undefined],
  ])('that redirects to %s names %s', async (location, origin) => {
    const { failure } = setUp(() => ({ status: 302, headers: { location }, body: '' }))
    expect((await failure()).facts.location).toBe(origin)
  })

  test.each([
    [64 * 1024, 'in words'],
    [64 * 1024 + 1, undefined],
  ])('of %i bytes says why: %s', async (size, message) => {
    const body = JSON.stringify(refusal('E', 'in words'))
    const { failure } = text(body + ' '.repeat(size - body.length), { status: 403 })
    const error = await failure()
    expect([error.name, error.serverMessage]).toEqual([message ? 'AccessDenied' : 'NotTheService', message])
  })

  test('that is compressed says why', async () => {
    const headers = { 'content-encoding': 'gzip' }
    const body = [gzipSync(JSON.stringify(refusal('E', 'in words')))]
    expect((await setUp(() => ({ status: 403, headers, body })).failure()).serverMessage).toBe('in words')
  })

  test('that breaks off is judged by its status', async () => {
    async function* cut() {
      yield Buffer.from('{"success"')
      throw broken('ECONNRESET')
    }
    const request = async () => ({ statusCode: 403, headers: {}, body: cut() })
    const agent = { request } as unknown as Agent
    const wire = new Wire({
      baseUrl,
      apiKey: 'k',
      version: '1',
      limits: {},
      signal: undefined,
      proxies: {},
      agent,
    })
    const sent = wire.send({ method: 'GET', path: '/a', query: {}, seen: () => undefined })
    await expect(sent).rejects.toThrow('does not come from the service: nothing')
  })
})

describe('a failed exchange', () => {
  test('names the host, and is seen without a status', async () => {
    const { seen, failure } = setUp(() => {
      throw broken('ECONNRESET')
    })
    const { message } = await failure({ query: { query: 'Jane' } })
    expect(message).toContain('the connection to h.example:8443 broke (GET /a?query=*: ECONNRESET)')
    expect(seen).toEqual([[0, 0]])
  })

  test('that is stopped ends with the reason of the run', async () => {
    const stop = new AbortController()
    const { failure } = setUp(
      ({ signal }) => {
        stop.abort(new Error('stopped by hand'))
        expect([signal.aborted, signal.reason]).toEqual([true, stop.signal.reason])
        throw broken('UND_ERR_ABORTED')
      },
      { signal: stop.signal },
    )
    expect((await failure()).message).toBe('stopped by hand')
  })

  test('of a run that was stopped before is stopped', async () => {
    const signals: AbortSignal[] = []
    const { failure } = setUp(
      ({ signal }) => {
        signals.push(signal)
        throw broken('UND_ERR_ABORTED')
      },
      { signal: AbortSignal.abort(new Error('stopped by hand')) },
    )
    expect((await failure()).message).toBe('stopped by hand')
    expect(signals[0]?.aborted).toBe(true)
  })

  test('that takes too long is cut, with the time it had', async () => {
    const { failure } = setUp(
      ({ signal }) =>
        new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason as Error))),
      { limits: { totalTimeout: 5 } },
    )
    const error = await failure()
    expect([error.report.what, error.code]).toEqual([
      'h.example:8443 did not answer in time',
      'MUSTER_TOO_SLOW',
    ])
    expect(error.cause.message).toBe('not finished after 5 ms')
  })

  test('or one that succeeds leaves neither a timer nor a listener behind', async () => {
    const stop = new AbortController()
    const signals: AbortSignal[] = []
    const { send } = setUp(
      ({ signal }) => {
        signals.push(signal)
        return { body: '{}' }
      },
      { signal: stop.signal, limits: { totalTimeout: 5 } },
    )
    await send()
    await new Promise(done => setTimeout(done, 15))
    stop.abort(new Error('stopped'))
    expect(signals[0]?.aborted).toBe(false)
  })
})

test('settings that cannot be right are refused at once', () => {
  const make = () =>
    new Wire({
      baseUrl: 'http://h/api',
      apiKey: 'k',
      version: '1',
      limits: {},
      signal: undefined,
      proxies: {},
      agent: undefined,
    })
  expect(make).toThrow('is not https')
})
