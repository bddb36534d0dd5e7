/** Signatures that are nearly right are refused, and a flood of them fills no log. */
import { describe, expect, test } from 'vitest'
import { altered, attackedReceiver, good, SIGNATURE } from './attacked.ts'
import { rawPost, sendRaw } from './raw-request.ts'
import { SECRET, signed } from './served.ts'

const receiver = attackedReceiver()
const { put, refuses, taken, counters } = receiver

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
  test('of the body serialised again with spaces', () => {
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

test('a flood of forgeries is counted, and its words are ours', () => {
  const { refused } = counters.news()
  expect(refused.size).toBeLessThan(20)
  expect(counters.counts().refused.signature).toBeGreaterThan(100)
})
