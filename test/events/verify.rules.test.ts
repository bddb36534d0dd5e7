/** When a delivery is genuine: its headers, the time of signing, and the digest, each on both sides of its boundary. */
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createVerifier, type SignatureClaim, signedAt } from '../../src/events/verify.ts'

const now = Date.parse('2026-11-21T05:00:00.000Z')
const hex = '0123456789abcdefABCDEF'.repeat(3).slice(0, 64)
const base64 = Buffer.from(hex, 'hex').toString('base64')
const verifier = (...secrets: readonly string[]) => createVerifier({ headerPrefix: 'X-Service', secrets })

const headers = (timestamp = String(now), signature = hex) => [
  ...['X-Service-Timestamp', timestamp, 'X-Service-Signature', signature],
]
const claim = (rawHeaders: readonly string[], nowMs = now) => verifier('s').claim({ rawHeaders, nowMs })

describe('headers are refused', () => {
  const bad = { refused: 'headers', why: 'signature or timestamp is missing, duplicate or too long' }
  test.each([
    ['without both', []],
    ['without the signature', headers().slice(0, 2)],
    ['without the timestamp', headers().slice(2)],
    ['with a second signature', [...headers(), 'x-service-signature', hex]],
    ['with a second timestamp', [...headers(), 'X-SERVICE-TIMESTAMP', String(now)]],
    ['with a name that is a value', ['Other', 'X-Service-Timestamp', ...headers().slice(2)]],
    ['with a name without a value', ['X-Service-Signature', hex, 'X-Service-Timestamp']],
    ['with a timestamp of 201 characters', headers('1'.repeat(201))],
    ['with a signature of 201 characters', headers(undefined, '1'.repeat(201))],
  ])('%s', (...[, raw]) => expect(claim(raw)).toEqual(bad))

  test('by their length only beyond 200 characters', () => {
    expect(claim(headers('1'.repeat(200)))).toMatchObject({ refused: 'timestamp' })
    expect(claim(headers(undefined, '1'.repeat(200)))).toMatchObject({ refused: 'signature' })
  })
})

describe('headers claim', () => {
  const claimed = { timestamp: String(now), digest: Buffer.from(hex, 'hex') }
  test.each([
    ['a timestamp and a digest', headers()],
    ['them in any case of their names', headers().map((text, at) => (at % 2 ? text : text.toUpperCase()))],
    ['them among others', ['Host', 'h', ...headers(), 'X-Service-Event', 'e']],
    ['them though a value names one', ['Other', 'X-Service-Timestamp', ...headers()]],
  ])('%s', (...[, raw]) => expect(claim(raw)).toEqual(claimed))

  test.each(['', 'sha256=', 'v1=', 'v1,'])('a digest after %j, as hex or base64', prefix => {
    for (const digest of [hex, hex.toLowerCase(), hex.toUpperCase(), base64])
      expect(claim(headers(undefined, prefix + digest))).toEqual(claimed)
  })
})

describe('a signature is refused', () => {
  test.each([
    ['with another prefix', `sha1=${hex}`],
    ['with two prefixes', `v1,sha256=${hex}`],
    ['with a version alone', `v1${hex}`],
    ['with space before it', ` ${hex}`],
    ['with something after it', `${hex},`],
    ['with 63 digits', hex.slice(1)],
    ['with 65 digits', `${hex}0`],
    ['with a digit that is none', `g${hex.slice(1)}`],
    ['with a character that is none of base64', `-${base64.slice(1)}`],
    ['with 42 characters of base64', base64.slice(1)],
    ['with 44 characters of base64', `A${base64}`],
    ['without the end of base64', base64.slice(0, -1)],
    ['with two ends of base64', `${base64}=`],
    ['in another spelling of its last bits', `${'A'.repeat(42)}B=`],
    ['empty', ''],
  ])('%s', (...[, signature]) => {
    expect(claim(headers(undefined, signature))).toEqual({
      ...{ refused: 'signature', why: 'signature is not a digest of 32 bytes' },
    })
  })
})

describe('a timestamp', () => {
  test.each([
    [-300_001, false],
    [-300_000, true],
    [300_000, true],
    [300_001, false],
  ])('%i ms from now is recent: %s', (shift, isRecent) => {
    const found = claim(headers(String(now + shift)))
    if (isRecent) expect(found).toHaveProperty('digest')
    else
      expect(found).toEqual({
        ...{ refused: 'timestamp', why: 'timestamp is not a time within five minutes of now' },
      })
  })

  test('that is no time is refused, before the signature is looked at', () => {
    expect(claim(headers('soon', 'none'))).toMatchObject({ refused: 'timestamp' })
  })

  test.each([
    ['1700000000', 1_700_000_000_000],
    ['1000000000', 1_000_000_000_000],
    ['1700000000123', 1_700_000_000_123],
    ['2026-11-21T05:00:00Z', now],
    ['2026-11-21T05:00:00.5Z', now + 500],
    ['2026-11-21T05:00:00.123456789Z', now + 123],
    ['2026-11-21T06:00:00+01:00', now],
    ['2026-11-20T23:30:00.000-05:30', now],
  ])('%s is read', (text, ms) => expect(signedAt(text)).toBe(ms))

  test.each([
    ...['', '170000000', '17000000000', '0700000000', '170000000012', '17000000001234', '0700000000123'],
    ...[' 1700000000', '1700000000 ', 'x1700000000', '1700000000x', ' 1700000000123', '1700000000123 '],
    ...['1.700000000', '-1700000000', '2026-11-21', '2026-11-21T05:00:00', '2026-11-21T05:00Z'],
    ...['2026-11-21 05:00:00Z', '2026-11-21T05:00:00z', '2026-11-21T05:00:00+0100', '2026-11-21T05:00:00.Z'],
    ...['2026-11-21T05:00:00.1234567890Z', ' 2026-11-21T05:00:00Z', '2026-11-21T05:00:00Z '],
    ...['2026-11-21T05:00:00.123', '2026-13-21T05:00:00Z', '2026-11-21T25:00:00Z', '+02026-11-21T05:00:00Z'],
    ...['2026-1-21T05:00:00Z', '2026-11-1T05:00:00Z', 'Sat, 21 Nov 2026 05:00:00 GMT'],
  ])('%j is not', text => expect(signedAt(text)).toBeUndefined())
})

describe('a body', () => {
  const body = Buffer.from('{"id":"evt_1","type":"trade_amended","data":{"trade":{"id":"t1"}}}')
  const signed = (secret: string, bytes = body): SignatureClaim => ({
    ...{ timestamp: '1', digest: createHmac('sha256', secret).update('1.').update(bytes).digest() },
  })
  const verify = (secrets: readonly string[], signature: SignatureClaim, bytes = body) =>
    verifier(...secrets).verify(signature, { body: bytes, nowMs: now })
  const forged = { refused: 'signature', why: 'signature does not match' }

  test.each([[['s']], [['s', 'other']], [['other', 's']], [['', 'other', 's']]])(
    'signed with one of %j is an event',
    secrets => {
      expect(verify(secrets, signed('s'))).toMatchObject({
        event: { id: 'evt_1', recordId: 't1', receivedAt: new Date(now).toISOString() },
      })
    },
  )

  test.each([[[]], [['']], [['other']], [['other', 'another']], [['other', 'another', 's']]])(
    'signed with none of the first two of %j is refused',
    secrets => expect(verify(secrets, signed('s'))).toEqual(forged),
  )

  test('signed with an empty secret is refused', () => {
    expect(verify([''], signed(''))).toEqual(forged)
  })

  test('with another timestamp or other bytes than were signed is refused', () => {
    expect(verify(['s'], { ...signed('s'), timestamp: '2' })).toEqual(forged)
    expect(verify(['s'], signed('s'), Buffer.concat([body, Buffer.from(' ')]))).toEqual(forged)
  })

  test('that is signed and no event is refused for what it is', () => {
    const bytes = Buffer.from('[]')
    expect(verify(['s'], signed('s', bytes), bytes)).toEqual({
      ...{ refused: 'body', why: 'signed body not an object' },
    })
  })
})
