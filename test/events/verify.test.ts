/** Properties of the verifier: what is genuine passes in every spelling, and nothing that was touched does. */
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { eventRule, eventTypes, payloadKeys } from '../../src/contract/events.ts'
import { isRecordId } from '../../src/contract/fields/record-id.ts'
import { parseStrictly } from '../../src/events/event.ts'
import { createVerifier, type Heading, signedAt, type VerifiedDelivery } from '../../src/events/verify.ts'

const NOW = Date.parse('2026-11-21T05:00:00.000Z')

const ids = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/)
const secrets = fc.string({ minLength: 1, maxLength: 80 })

interface Delivery extends Heading {
  readonly body: Uint8Array
}

interface Genuine {
  readonly secret: string
  readonly delivery: Delivery
  readonly type: string
  readonly id: string
  readonly recordId: string
}

const spelt = {
  iso: (ms: number) => new Date(ms).toISOString(),
  seconds: (ms: number) => String(Math.floor(ms / 1000)),
  milliseconds: (ms: number) => String(ms),
}

const genuine: fc.Arbitrary<Genuine> = fc
  .record({
    secret: secrets,
    id: ids,
    recordId: ids.filter(isRecordId),
    type: fc.constantFrom(...eventTypes),
    shiftMs: fc.integer({ min: -299_000, max: 299_000 }),
    timestamp: fc.constantFrom(spelt.iso, spelt.seconds, spelt.milliseconds),
    encoding: fc.constantFrom('hex' as const, 'base64' as const),
    prefix: fc.constantFrom('', 'sha256=', 'v1,', 'v1='),
    filler: fc.jsonValue({ maxDepth: 6 }),
    others: fc.array(fc.tuple(fc.stringMatching(/^[A-Z][a-z]{2,8}$/), fc.stringMatching(/^[ -~]{0,30}$/)), {
      maxLength: 4,
    }),
  })
  .map(({ secret, id, recordId, type, shiftMs, timestamp, encoding, prefix, filler, others }) => {
    const data = { [payloadKeys[eventRule(type).entity]]: { id: recordId } }
    const body = Buffer.from(JSON.stringify({ id, type, createdAt: spelt.iso(NOW), data, filler }))
    const time = timestamp(NOW + shiftMs)
    const digest = createHmac('sha256', secret).update(`${time}.`).update(body).digest(encoding)
    const ours = [
      ['X-Service-Timestamp', time],
      ['X-Service-Signature', prefix + digest],
    ]
    const rawHeaders = [...others.map(([name, value]) => [`X-Other-${name}`, value]), ...ours].flat()
    return { secret, id, recordId, type, delivery: { rawHeaders, body, nowMs: NOW } }
  })
  // A filler may happen to hold what makes JSON ambiguous.
  .filter(({ delivery }) => !('fault' in parseStrictly(delivery.body)))

function verified(given: readonly string[], delivery: Delivery): VerifiedDelivery {
  const { claim, verify } = createVerifier({ headerPrefix: 'X-Service', secrets: given })
  const claimed = claim(delivery)
  return 'refused' in claimed ? claimed : verify(claimed, delivery)
}

describe('a genuine delivery', () => {
  test('passes with its secret, as the first or the second of two', () => {
    fc.assert(
      fc.property(genuine, secrets, ({ secret, delivery, ...event }, other) => {
        for (const given of [[secret], [other, secret], [secret, other]]) {
          const result = verified(given, delivery)
          expect(result).toMatchObject({
            event: { id: event.id, type: event.type, recordId: event.recordId },
          })
        }
      }),
    )
  })
  test('does not pass with another secret, nor as the third', () => {
    fc.assert(
      fc.property(genuine, secrets, secrets, ({ secret, delivery }, one, two) => {
        fc.pre(one !== secret && two !== secret)
        expect(verified([one, two], delivery)).toMatchObject({ refused: 'signature' })
        expect(verified([one, two, secret], delivery)).toMatchObject({ refused: 'signature' })
        expect(verified([''], delivery)).toMatchObject({ refused: 'signature' })
        expect(verified([], delivery)).toMatchObject({ refused: 'signature' })
      }),
    )
  })
  test('does not pass outside of five minutes', () => {
    fc.assert(
      fc.property(genuine, fc.integer({ min: 601_001, max: 1e12 }), fc.boolean(), (one, ms, isLater) => {
        const nowMs = isLater ? NOW + ms : NOW - ms
        expect(verified([one.secret], { ...one.delivery, nowMs })).toMatchObject({ refused: 'timestamp' })
      }),
    )
  })
})

describe('what was touched is refused', () => {
  test('any byte of the body, changed, removed or added', () => {
    const touch = fc.record({
      at: fc.nat(),
      byte: fc.integer({ min: 0, max: 255 }),
      how: fc.constantFrom('change', 'remove', 'add'),
    })
    fc.assert(
      fc.property(genuine, touch, ({ secret, delivery }, { at, byte, how }) => {
        const place = at % delivery.body.length
        const before = delivery.body.subarray(0, place)
        const after = delivery.body.subarray(how === 'add' ? place : place + 1)
        const middle = how === 'remove' ? [] : [byte]
        const body = Buffer.concat([before, Buffer.from(middle), after])
        fc.pre(!body.equals(delivery.body))
        expect(verified([secret], { ...delivery, body })).toMatchObject({ refused: 'signature' })
      }),
    )
  })
  test('any character of either header', () => {
    fc.assert(
      fc.property(
        genuine,
        fc.nat(),
        fc.constantFrom(...'0123456789abcXYZ+/=.:-'),
        ({ secret, delivery }, at, letter) => {
          const rawHeaders = [...delivery.rawHeaders]
          const which = rawHeaders.length - (at % 2 === 0 ? 1 : 3)
          const value = rawHeaders[which] ?? ''
          const place = (at >> 1) % value.length
          const changed = value.slice(0, place) + letter + value.slice(place + 1)
          // Upper and lower case hex spell the same digest.
          fc.pre(changed.toLowerCase() !== value.toLowerCase())
          rawHeaders[which] = changed
          expect(verified([secret], { ...delivery, rawHeaders })).toHaveProperty('refused')
        },
      ),
    )
  })
  test('arbitrary headers and bytes neither pass nor throw', () => {
    const header = fc.tuple(
      fc.constantFrom('X-Service-Timestamp', 'x-service-signature', 'Other'),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(header), fc.uint8Array(), (headers, body) => {
        expect(verified(['s'], { rawHeaders: headers.flat(), body, nowMs: NOW })).toHaveProperty('refused')
      }),
      { numRuns: 500 },
    )
  })
})

describe('signed bytes of any kind', () => {
  const sign = (body: Uint8Array): Delivery => {
    const timestamp = String(NOW)
    const digest = createHmac('sha256', 's').update(`${timestamp}.`).update(body).digest('hex')
    return { rawHeaders: ['X-Service-Timestamp', timestamp, 'X-Service-Signature', digest], body, nowMs: NOW }
  }
  const safe = /^[A-Za-z0-9_-]{1,64}$/
  test('never throw, and give safe ids only', () => {
    const bodies = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.json().map(text => Buffer.from(text)),
      fc
        .record({
          id: fc.oneof(ids, fc.string(), fc.jsonValue()),
          type: fc.oneof(fc.constantFrom(...eventTypes), fc.string(), fc.jsonValue()),
          createdAt: fc.oneof(fc.string(), fc.jsonValue()),
          data: fc.oneof(
            fc.dictionary(
              fc.constantFrom(...Object.values(payloadKeys)),
              fc.record({ id: fc.oneof(ids, fc.string()) }),
            ),
            fc.jsonValue(),
          ),
        })
        .map(body => Buffer.from(JSON.stringify(body))),
    )
    fc.assert(
      fc.property(bodies, body => {
        const result = verified(['s'], sign(body))
        if (!('event' in result)) {
          expect(result.refused).toBe('body')
          return
        }
        const { id, recordId, state, createdAt } = result.event
        expect(id).toMatch(safe)
        if (recordId !== null) expect(recordId).toMatch(safe)
        expect(recordId !== null).toBe(state === 'new')
        if (createdAt !== null) expect(new Date(createdAt).toISOString()).toBe(createdAt)
      }),
      { numRuns: 1000 },
    )
  })
})

test('strict JSON reads what JSON.parse reads, unless a key comes twice', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), value => {
      const text = JSON.stringify(value)
      fc.pre(!text.includes('"__proto__"'))
      expect(parseStrictly(Buffer.from(text))).toEqual({ value: JSON.parse(text) })
    }),
  )
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), fc.jsonValue(), (key, one, other) => {
      const text = `{${JSON.stringify(key)}:${JSON.stringify(one)},${JSON.stringify(key)}:${JSON.stringify(other)}}`
      expect(parseStrictly(Buffer.from(text))).toHaveProperty('fault')
    }),
  )
})

test('every spelling of a time is read as the same time', () => {
  fc.assert(
    fc.property(fc.integer({ min: Date.UTC(2002, 0), max: Date.UTC(2280, 0) }), ms => {
      expect(signedAt(spelt.iso(ms))).toBe(ms)
      expect(signedAt(spelt.milliseconds(ms))).toBe(ms)
      expect(signedAt(spelt.seconds(ms))).toBe(Math.floor(ms / 1000) * 1000)
    }),
  )
})
