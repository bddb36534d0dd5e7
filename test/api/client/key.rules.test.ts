/** What is made of an answer of /me, right or wrong. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readKey } from '../../../src/api/client/key.ts'

describe('limits that /me does not tell', () => {
  it.each([undefined, 0, -1, 1.5, '600', null, Number.NaN, 1e12, {}])(
    '%j is replaced by 60 and 5,000',
    sent => {
      const key = readKey({ rateLimitPerMinute: sent, rateLimitPerDay: sent }, Buffer.alloc(0))
      expect([key.rateLimitPerMinute, key.rateLimitPerDay]).toEqual([60, 5_000])
    },
  )

  it.each([
    [{ remainingToday: -4 }, { remainingToday: 0 }],
    [{ remainingToday: '4', requestsToday: 1.5, resetsAt: 7 }, {}],
    [null, {}],
    ['x', {}],
  ])('usage %j is read as %j', (usage, expected) => {
    expect(readKey({ usage }, Buffer.alloc(0)).usage).toEqual(expected)
  })

  it('reads any /me without throwing', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom('name', 'scopes', 'usage', 'companies', 'agencies', 'rateLimitPerDay'),
          fc.jsonValue(),
        ),
        data => {
          const key = readKey(data as Record<string, unknown>, Buffer.alloc(0))
          expect(key.rateLimitPerDay).toBeGreaterThan(0)
        },
      ),
    )
  })

  it('knows an agency key by its agencies', () => {
    const kind = (data: object) => readKey({ ...data }, Buffer.alloc(0)).kind
    expect(kind({ agencies: [{ id: 'a', name: 'A' }], companies: [{ id: 'c' }] })).toBe('agency')
    expect(kind({ agencies: [], companies: [{ id: 'c' }] })).toBe('company')
    expect(kind({})).toBe('company')
    // Its agencies may be gone, or without an id: the key is still one of an agency.
    expect(kind({ agencies: [] })).toBe('agency')
    expect(kind({ agencies: [{ name: 'A' }], companies: [] })).toBe('agency')
    expect(kind({ scopes: ['read:workers', 'write:workers'] })).toBe('agency')
    expect(kind({ scopes: ['write:workers'], companies: [{ id: 'c' }] })).toBe('company')
  })
})
