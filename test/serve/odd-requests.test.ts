/** Requests that no sender of ours makes: too large, too slow, packed, smuggled, to other paths, methods and hosts. */
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { attackedReceiver, chunkedHead, good } from './attacked.ts'
import { type RawAnswer, rawPost, sendRaw } from './raw-request.ts'
import { type Signed, signed } from './served.ts'

const receiver = attackedReceiver()
const { put, refuses, start, statusOf, taken, takes } = receiver

describe('requests', () => {
  const delivery = (): Signed => signed(good())
  const addressedTo = (address: string): Buffer =>
    Buffer.from(
      rawPost(receiver.url, delivery())
        .toString('latin1')
        .replace('/webhook', () => address),
      'latin1',
    )
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
  test('headers that are enough to refuse it are answered before the body comes', () =>
    refuses(401, () =>
      put(
        { ...delivery(), body: Buffer.alloc(0) },
        { drop: ['X-Service-Signature', 'Content-Length'], extra: ['Content-Length: 60000'] },
      ),
    ))
  test('65 KiB in chunks', async () => {
    const { headers } = delivery()
    const head = chunkedHead(receiver.url, headers)
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
  test('several on one connection are answered separately', async () => {
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
  test.each(['http://evil.example', 'HTTPS://evil.example:8080', 'http://127.0.0.1@evil.example'])(
    'to the address of another host, %s',
    origin => refuses(421, () => statusOf(addressedTo(`${origin}/webhook`))),
  )
  test('to its own address in full', () => takes(() => statusOf(addressedTo(receiver.url))))
  test('to an address that cannot be decoded, which no answer quotes', async () => {
    const { statuses, text } = await sendRaw(receiver.url, [addressedTo('/%zz-secret')])
    expect([statuses, text.includes('secret')]).toEqual([[400], false])
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
