/** Every attack of the list, over a real socket: the right status, no event taken that is not genuine, no crash. */

import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { type Receiver, type ReceiverOptions, startReceiver } from '../../src/serve/receiver.ts'
import { createTally } from '../../src/serve/tally.ts'
import type { InboxEvent } from '../../src/webhooks/event.ts'
import { createVerifier } from '../../src/webhooks/verify.ts'
import { type RawAnswer, rawPost, sendRaw } from './raw-request.ts'
import { eventBody, SECRET, type Signed, type Signing, signed } from './served.ts'

const PREVIOUS = 'canary-older-secret'
/** The receiver's clock stands still: what is 302 s early stays so. */
const NOW = Date.now()
const taken: InboxEvent[] = []
const tally = createTally()
let receiver: Receiver
function start(options: Partial<ReceiverOptions> = {}): Promise<Receiver> {
  return startReceiver(
    { host: '127.0.0.1', port: 0, path: '/webhook', allowedHosts: ['hooks.example.com'], ...options },
    {
      clock: { ...systemClock, now: () => NOW },
      tally,
      verify: createVerifier({ headerPrefix: 'X-Service', secrets: [SECRET, PREVIOUS] }),
      intake: { take: async event => void taken.push(event) },
      health: () => ({ isWell: true, body: { status: 'ok' } }),
    },
  )
}

beforeAll(async () => {
  receiver = await start()
})

afterAll(async () => {
  // Whatever was sent, it is alive and takes what is genuine.
  expect((await sendRaw(receiver.url, [rawPost(receiver.url, signed(good()))])).statuses).toEqual([202])
  await receiver.close()
})

let made = 0
const good = (type?: string, data?: object): string => {
  made += 1
  return eventBody(`evt_${made}`, type, data)
}

async function statusOf(request: Buffer): Promise<number | undefined> {
  return (await sendRaw(receiver.url, [request])).statuses[0]
}

const put = (delivery: Signed, how?: Parameters<typeof rawPost>[2]): Promise<number | undefined> =>
  statusOf(rawPost(receiver.url, delivery, how))

/** A genuine delivery with one header changed. */
const altered = (
  name: 'Signature' | 'Timestamp',
  change: (value: string) => string,
  how: Signing = {},
): Signed => {
  const { body, headers } = signed(good(), how)
  const header = `X-Service-${name}`
  return { body, headers: { ...headers, [header]: change(headers[header] ?? '') } }
}

const SIGNATURE = 'X-Service-Signature'
const TIMESTAMP = 'X-Service-Timestamp'
const at = (seconds: number): string => new Date(NOW + seconds * 1000).toISOString()
const epoch = (seconds: number): string => String(Math.floor(NOW / 1000) + seconds)

async function refuses(status: number, send: () => Promise<number | undefined>): Promise<void> {
  const before = taken.length
  expect(await send()).toBe(status)
  expect(taken.length).toBe(before)
}

async function takes(send: () => Promise<number | undefined>): Promise<void> {
  const before = taken.length
  expect(await send()).toBe(202)
  expect(taken.length).toBe(before + 1)
}

describe('genuine spellings are taken', () => {
  const spellings: [string, Signing][] = [
    ['hex, ISO', {}],
    ['base64', { encoding: 'base64' }],
    ['sha256= and hex', { prefix: 'sha256=' }],
    ['sha256= and base64', { prefix: 'sha256=', encoding: 'base64' }],
    ['v1, and base64', { prefix: 'v1,', encoding: 'base64' }],
    ['epoch seconds', { timestamp: epoch(0) }],
    ['epoch milliseconds', { timestamp: String(Date.now()) }],
    ['ISO with an offset', { timestamp: new Date().toISOString().replace('Z', '+00:00') }],
    ['ISO without a fraction', { timestamp: new Date().toISOString().replace(/\.\d+Z/, 'Z') }],
    ['the secret of before', { secret: PREVIOUS }],
    ['299 s old', { timestamp: at(-299) }],
    ['299 s early', { timestamp: at(299) }],
  ]
  test.each(spellings)('%s', (_, how) => takes(() => put(signed(good(), how))))
  test('upper case hex is the same digest', () =>
    takes(() => put(altered('Signature', text => text.toUpperCase()))))
  test('a charset beside the type', () =>
    takes(() =>
      put(signed(good()), {
        drop: ['Content-Type'],
        extra: ['Content-Type: application/json; charset=utf-8'],
      }),
    ))
  test('header names in any case', () => {
    const { body, headers } = signed(good())
    const lower = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
    )
    return takes(() => put({ body, headers: lower }))
  })
  test('under the name that a proxy passes on', () =>
    takes(() => put(signed(good()), { drop: ['Host'], extra: ['Host: hooks.example.com'] })))
  test('in chunks, without a length', async () => {
    const { body, headers } = signed(good())
    const head = rawPost(
      receiver.url,
      { body: Buffer.alloc(0), headers },
      {
        drop: ['Content-Length'],
        extra: ['Transfer-Encoding: chunked'],
      },
    )
    await takes(() =>
      statusOf(
        Buffer.concat([
          head,
          Buffer.from(`${body.length.toString(16)}\r\n`),
          body,
          Buffer.from('\r\n0\r\n\r\n'),
        ]),
      ),
    )
  })
})

describe('headers', () => {
  test.each([SIGNATURE, TIMESTAMP])('without %s', name =>
    refuses(401, () => put(signed(good()), { drop: [name] })),
  )
  test.each([SIGNATURE, TIMESTAMP])('with an empty %s', name =>
    refuses(401, () => put(signed(good()), { drop: [name], extra: [`${name}:`] })),
  )
  test.each([SIGNATURE, TIMESTAMP])('with %s twice, alike', name => {
    const delivery = signed(good())
    return refuses(401, () => put(delivery, { extra: [`${name}: ${delivery.headers[name]}`] }))
  })
  test.each([SIGNATURE, TIMESTAMP])(
    'with %s twice, in another case, the right one first or last',
    async name => {
      await refuses(401, () => put(signed(good()), { extra: [`${name.toLowerCase()}: 0`] }))
      const delivery = signed(good())
      const extra = [`${name}: 0`, `${name.toUpperCase()}: ${delivery.headers[name]}`]
      await refuses(401, () => put(delivery, { drop: [name], extra }))
    },
  )
  test.each([SIGNATURE, TIMESTAMP] as const)('with two values in one %s', name =>
    refuses(401, () =>
      put(altered(name === SIGNATURE ? 'Signature' : 'Timestamp', text => `${text}, ${text}`)),
    ),
  )
  test.each(['Signature', 'Timestamp'] as const)('a %s of 4 kB', name =>
    refuses(401, () => put(altered(name, text => text + ' x'.repeat(2048)))),
  )
  test('more headers than fit', () =>
    refuses(431, () => put(signed(good()), { extra: [`X-Filler: ${'x'.repeat(20_000)}`] })))
  test('the type and id in headers are nothing: the signed body says what happened', async () => {
    await takes(() =>
      put(signed(good('invoice_paid', { invoice: { id: 'i1' } })), {
        extra: ['X-Service-Event: timesheet_deleted', 'X-Service-Event-Id: ../../x'],
      }),
    )
    expect(taken.at(-1)).toMatchObject({ type: 'invoice_paid', entity: 'invoice', recordId: 'i1' })
  })
})

describe('signatures', () => {
  test.each<[string, (text: string) => string]>([
    ['one digit fewer', text => text.slice(0, -1)],
    ['one digit more', text => `${text}0`],
    ['half of it', text => text.slice(0, 32)],
    ['twice', text => text + text],
    ['no hex', text => `g${text.slice(1)}`],
    ['a space inside', text => `${text.slice(0, 10)} ${text.slice(10)}`],
    ['quoted', text => `"${text}"`],
    ['another prefix', text => `md5=${text}`],
    ['two prefixes', text => `sha256=sha256=${text}`],
    ['all zeros', () => '0'.repeat(64)],
    ['the word null', () => 'null'],
  ])('%s', (_, change) => refuses(401, () => put(altered('Signature', change))))
  test.each<[string, (text: string) => string]>([
    ['without padding', text => text.replace(/=+$/, '')],
    ['for addresses', text => `${text.slice(0, 5)}-_${text.slice(7)}`],
    ['another spelling of the last bits', text => text.replace(/(.)=$/, (_, last) => `${nextLetter(last)}=`)],
  ])('base64 %s', (_, change) =>
    refuses(401, () => put(altered('Signature', change, { encoding: 'base64' }))),
  )
  test.each([
    ['another secret', { secret: 'somebody else' }],
    ['no secret', { secret: '' }],
    ['a secret and a space', { secret: `${SECRET} ` }],
  ])('%s', (_, how) => refuses(401, () => put(signed(good(), how))))
  test('one bit of each byte of the body', async () => {
    const { body, headers } = signed(good())
    const flipped = Array.from(body, (_, place) => {
      const copy = Buffer.from(body)
      copy.writeUInt8((copy[place] ?? 0) ^ (1 << (place % 8)), place)
      return rawPost(receiver.url, { body: copy, headers })
    })
    const before = taken.length
    const { statuses } = await sendRaw(receiver.url, flipped, { lingerMs: 300 })
    expect(statuses).toEqual(flipped.map(() => 401))
    expect(taken.length).toBe(before)
  })
  test('one bit of each byte of the digest', async () => {
    const { body, headers } = signed(good())
    const digest = Buffer.from(headers[SIGNATURE] ?? '', 'hex')
    const flipped = Array.from(digest, (_, place) => {
      const copy = Buffer.from(digest)
      copy.writeUInt8((copy[place] ?? 0) ^ (1 << (place % 8)), place)
      return rawPost(receiver.url, { body, headers: { ...headers, [SIGNATURE]: copy.toString('hex') } })
    })
    const { statuses } = await sendRaw(receiver.url, flipped, { lingerMs: 300 })
    expect(statuses).toEqual(flipped.map(() => 401))
  })
  test('of the body written anew with spaces', () => {
    const { body, headers } = signed(good())
    return refuses(401, () =>
      put({ headers, body: Buffer.from(JSON.stringify(JSON.parse(String(body)), null, 1)) }),
    )
  })
  test('of a body that was cut or added to', async () => {
    const { body, headers } = signed(good())
    await refuses(401, () => put({ headers, body: body.subarray(0, -1) }))
    await refuses(401, () => put({ headers, body: Buffer.concat([body, Buffer.from(' ')]) }))
  })
})

function nextLetter(letter: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  return letters[letters.indexOf(letter) + 1] ?? 'B'
}

describe('timestamps, rightly signed', () => {
  test.each([
    ['302 s old', at(-302)],
    ['302 s early', at(302)],
    ['302 s old in seconds', epoch(-302)],
    ['302 s early in milliseconds', String(NOW + 302_000)],
    ['0', '0'],
    ['-1', '-1'],
    ['1e20', '1e20'],
    ['1e9', '1e9'],
    ['NaN', 'NaN'],
    ['Infinity', 'Infinity'],
    ['now', 'now'],
    ['a sign', `+${epoch(0)}`],
    ['a fraction of a second', `${epoch(0)}.5`],
    ['hexadecimal', `0x${Number(epoch(0)).toString(16)}`],
    ['nanoseconds', `${Date.now()}000000`],
    ['no zone', new Date().toISOString().slice(0, -1)],
    ['a date', new Date().toISOString().slice(0, 10)],
    ['month 13', `2026-13-01T00:00:00Z`],
    ['words', new Date().toUTCString()],
    ['a tenth digit too many', `${epoch(0)}0`],
  ])('%s', (_, timestamp) => refuses(401, () => put(signed(good(), { timestamp }))))
  test('the dot between it and the body is moved', async () => {
    const { body, headers } = signed(good(), { timestamp: '2026-11-21T05:00:00.123Z' })
    const shifted = Buffer.concat([Buffer.from('123Z.'), body])
    await refuses(401, () =>
      put({ body: shifted, headers: { ...headers, [TIMESTAMP]: '2026-11-21T05:00:00' } }),
    )
    const now = epoch(0)
    const whole = signed(Buffer.concat([Buffer.from('1.'), Buffer.from(good())]), { timestamp: now })
    await refuses(400, () => put(whole))
    await refuses(401, () =>
      put({ body: whole.body.subarray(2), headers: { ...whole.headers, [TIMESTAMP]: `${now}.1` } }),
    )
  })
  test('changed after signing', () => refuses(401, () => put(altered('Timestamp', () => at(1)))))
})

describe('bodies, rightly signed', () => {
  const deep = (depth: number): string =>
    `{"id":"e","type":"trade_amended","data":${'['.repeat(depth)}${']'.repeat(depth)}}`
  test.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['no JSON', 'id=evt_1'],
    ['half of it', good().slice(0, -2)],
    ['two documents', good() + good()],
    ['a list', `[${good()}]`],
    ['a text', '"evt_1"'],
    ['a number', '1e400'],
    ['null', 'null'],
    ['a mark before it', `\ufeff${good()}`],
    ['UTF-16', Buffer.from(good(), 'utf16le')],
    [
      'bytes that are no UTF-8',
      Buffer.concat([Buffer.from('{"id":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
    ],
    ['NUL inside', good().replace('evt_', 'evt\u0000')],
    ['a key twice', '{"id":"a","id":"b","type":"trade_amended","data":{"trade":{"id":"t"}}}'],
    ['a key twice, spelt differently', '{"id":"a","\\u0069d":"b","type":"trade_amended","data":{}}'],
    ['a key twice further in', '{"id":"a","type":"trade_amended","data":{"trade":{"id":"t","id":"u"}}}'],
    ['__proto__', '{"id":"a","type":"trade_amended","__proto__":{"id":"b"}}'],
    ['__proto__ further in', '{"id":"a","type":"trade_amended","data":{"trade":{"__proto__":{"id":"b"}}}}'],
    ['__proto__ in escapes', '{"id":"a","type":"trade_amended","\\u005f_proto__":{}}'],
    ['40 levels', deep(40)],
    ['10,000 levels', deep(10_000)],
    ['no id', '{"type":"trade_amended","data":{"trade":{"id":"t"}}}'],
    ['a number as id', '{"id":7,"type":"trade_amended","data":{}}'],
    ['an empty id', '{"id":"","type":"trade_amended","data":{}}'],
    ['an id of 65 letters', JSON.stringify({ id: 'x'.repeat(65), type: 'trade_amended' })],
    ['an id of 10 kB', JSON.stringify({ id: 'x'.repeat(10_240), type: 'trade_amended' })],
    ['an id with a path', JSON.stringify({ id: '../me', type: 'trade_amended' })],
    ['an id with a quote', JSON.stringify({ id: "a'; drop table x; --", type: 'trade_amended' })],
    ['an id with a lone surrogate', '{"id":"\\ud83d","type":"trade_amended"}'],
    ['an id with a line break', JSON.stringify({ id: 'a\r\nlevel=error', type: 'trade_amended' })],
    ['no type', '{"id":"a","data":{}}'],
    ['a type with a line break', JSON.stringify({ id: 'a', type: 'trade\r\namended' })],
    ['a type of 10 kB', JSON.stringify({ id: 'a', type: 'x'.repeat(10_240) })],
    ['an inherited name as type', '{"id":"a","type":{"toString":1}}'],
  ])('%s', (_, body) => refuses(400, () => put(signed(body))))

  const kept = async (body: string, expected: Partial<InboxEvent>): Promise<void> => {
    await takes(() => put(signed(body)))
    expect(taken.at(-1)).toMatchObject(expected)
  }
  test.each(['../me', '..%2fme', "a' or 1=1", 'a\u0000', 'x'.repeat(10_240), '', 'a b', 'ä', '\ud83d'])(
    'a record id that is none is kept and never asked for: %j',
    id => kept(good('trade_amended', { trade: { id } }), { state: 'unreadable', recordId: null }),
  )
  test.each<[string, unknown]>([
    ['none', {}],
    ['null', null],
    ['a list', [{ id: 't' }]],
    ['a text', 'trade'],
    ['an id without its entity', { id: 't' }],
    ['another entity', { timesheet: { id: 't1' } }],
    ['two others', { timesheet: { id: 't1' }, invoice: { id: 'i1' } }],
    ['an id that is a number', { trade: { id: 7 } }],
    ['an inherited id', { trade: { constructor: { id: 't' } } }],
  ])('data of no use is kept: %s', (_, data) =>
    kept(good('trade_amended', data as object), { state: 'unreadable', recordId: null }),
  )
  test('of two entities the one that the type is about counts', () =>
    kept(good('trade_amended', { worker: { id: 'w' }, trade: { id: 't' } }), { state: 'new', recordId: 't' }))
  test('a key that the service does not show may be any, alone', async () => {
    await kept(good('purchase_order_created', { po: { id: 'p1' } }), {
      entity: 'purchase_order',
      recordId: 'p1',
    })
    await kept(good('purchase_order_created', { po: { id: 'p1' }, x: { id: 'p2' } }), { state: 'unreadable' })
  })
  test('a type that nobody knows', () => kept(good('worker_vanished'), { state: 'unknown', entity: null }))
  test.each(['constructor', 'toString', 'hasOwnProperty'])('a type that every object has: %s', type =>
    kept(good(type), { state: 'unknown' }),
  )
  test('a test from the application', () => kept(good('test'), { state: 'test', recordId: null }))
  test('a key constructor changes nothing', async () => {
    await kept(
      '{"id":"c1","type":"trade_amended","constructor":{"prototype":{"isAdmin":true}},"data":{"trade":{"id":"t"}}}',
      {
        recordId: 't',
      },
    )
    expect(Object.hasOwn(Object.prototype, 'isAdmin')).toBe(false)
  })
  test.each([
    'yesterday',
    '2026-02-30T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '1e400',
    5,
    null,
    '2026-11-21T05:00:00Z\n',
  ])('a time that is none or odd does no harm: %j', async createdAt => {
    const id = `time_${made++}`
    await takes(() =>
      put(signed(JSON.stringify({ id, type: 'trade_amended', createdAt, data: { trade: { id: 't' } } }))),
    )
    const { createdAt: read } = taken.at(-1) as InboxEvent
    expect(read === null || new Date(read).toISOString() === read).toBe(true)
  })
})

describe('requests', () => {
  const delivery = (): Signed => signed(good())
  test('64 KiB are read, one byte more is not', async () => {
    const filled = (size: number): Signed => {
      const bare = JSON.stringify({ id: 'big', type: 'x', filler: '' })
      return signed(JSON.stringify({ id: 'big', type: 'x', filler: 'x'.repeat(size - bare.length) }))
    }
    await takes(() => put(filled(65_536)))
    await refuses(413, () => put(filled(65_537)))
  })
  test('a length of gigabytes is refused before a byte of it comes', () =>
    refuses(413, () => put(delivery(), { drop: ['Content-Length'], extra: ['Content-Length: 9000000000'] })))
  test('65 KiB in chunks', async () => {
    const { headers } = delivery()
    const head = rawPost(
      receiver.url,
      { body: Buffer.alloc(0), headers },
      {
        drop: ['Content-Length'],
        extra: ['Transfer-Encoding: chunked'],
      },
    )
    const chunk = Buffer.from(`1000\r\n${'x'.repeat(4096)}\r\n`)
    await refuses(413, () => statusOf(Buffer.concat([head, ...Array.from({ length: 17 }, () => chunk)])))
  })
  test('packed', async () => {
    const body = gzipSync(good())
    await refuses(415, () => put(signed(body), { extra: ['Content-Encoding: gzip'] }))
    await refuses(415, () => put(signed(good()), { extra: ['Content-Encoding: identity'] }))
  })
  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
  ])('as %s', type =>
    refuses(415, () => put(delivery(), { drop: ['Content-Type'], extra: [`Content-Type: ${type}`] })),
  )
  test('length and chunks at once', () =>
    refuses(400, () => put(delivery(), { extra: ['Transfer-Encoding: chunked'] })))
  test('two lengths', () => refuses(400, () => put(delivery(), { extra: ['Content-Length: 1'] })))
  test('an odd transfer encoding', () =>
    refuses(400, () => put(delivery(), { drop: ['Content-Length'], extra: ['Transfer-Encoding: xchunked'] })))
  test('a line break in a header', () =>
    refuses(400, () => put(delivery(), { extra: ['X-Name: a\nX-Other: b\r'] })))
  test('no HTTP', () => refuses(400, () => statusOf(Buffer.from('HELLO\r\n\r\n'))))
  test('several on one connection are told apart', async () => {
    const before = taken.length
    const forged = { ...delivery(), body: Buffer.from(good()) }
    const requests = [delivery(), forged, delivery()].map(one => rawPost(receiver.url, one))
    const { statuses } = await sendRaw(receiver.url, [Buffer.concat(requests)], { lingerMs: 60 })
    expect(statuses).toEqual([202, 401, 202])
    expect(taken.length).toBe(before + 2)
  })
  test.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE'])('%s', async method => {
    const before = taken.length
    const { body, headers } = delivery()
    const request = rawPost(receiver.url, { body, headers }).toString('latin1').replace('POST', method)
    const { statuses, text } = await sendRaw(receiver.url, [request])
    expect(statuses[0]).toBe(405)
    expect(text.toLowerCase()).toContain('allow: post')
    expect(taken.length).toBe(before)
  })
  test.each([
    '/',
    '/webhook/',
    '/webhook/x',
    '//webhook',
    '/WEBHOOK',
    '/webhook%2f',
    '/health/x',
    '/../webhook',
  ])('to %s', path =>
    refuses(404, () =>
      statusOf(
        Buffer.from(rawPost(receiver.url, delivery()).toString('latin1').replace('/webhook', path), 'latin1'),
      ),
    ),
  )
  test.each([
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil',
    'hooks.example.com.evil',
    '',
    'a b',
    '127.0.0.1@evil',
  ])('to the host %j', async host => {
    const before = taken.length
    const status = await put(delivery(), { drop: ['Host'], extra: [`Host: ${host}`] })
    expect([400, 421]).toContain(status)
    expect(taken.length).toBe(before)
  })
  test('to no host', () => refuses(400, () => put(delivery(), { drop: ['Host'] })))
  test('health is read only', async () => {
    const ask = (method: string): Promise<RawAnswer> =>
      sendRaw(receiver.url, [`${method} /health HTTP/1.1\r\nHost: localhost\r\n\r\n`])
    expect((await ask('GET')).statuses).toEqual([200])
    expect((await ask('POST')).statuses).toEqual([405])
  })
})

test('a body that drips is cut off, and so are headers', async () => {
  const strict = await start({ longestRequestMs: 800 })
  const started = performance.now()
  const slow = signed(good())
  const head = rawPost(strict.url, { ...slow, body: Buffer.from('x'.repeat(100)) }).subarray(0, -90)
  const bits = Array.from({ length: 60 }, () => 'x')
  const answers = await Promise.all([
    sendRaw(strict.url, [head, ...bits], { everyMs: 50, lingerMs: 2000 }),
    sendRaw(strict.url, ['POST /webhook HTTP/1.1\r\n', ...bits.map(() => 'X: y\r\n')], {
      everyMs: 50,
      lingerMs: 2000,
    }),
  ])
  expect(performance.now() - started).toBeLessThan(2500)
  expect(answers.map(({ isClosed }) => isClosed)).toEqual([true, true])
  expect(answers.flatMap(({ statuses }) => statuses).every(status => status === 408)).toBe(true)
  await strict.close()
})

test('a flood of forgeries is counted, and its words are ours', () => {
  const { refused } = tally.news()
  expect(refused.size).toBeLessThan(20)
  expect(tally.counts().refused.signature).toBeGreaterThan(100)
})
