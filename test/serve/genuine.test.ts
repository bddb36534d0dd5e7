/** What a sender may write in several ways is taken in each of them. */
import { describe, test } from 'vitest'
import { altered, attackedReceiver, chunkedHead, good, PREVIOUS } from './attacked.ts'
import { type Signing, signed } from './served.ts'

const receiver = attackedReceiver()
const { at, epoch, put, statusOf, takes } = receiver

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
    const head = chunkedHead(receiver.url, headers)
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
