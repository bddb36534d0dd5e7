/** What is made of an answer of /me, right or wrong. */
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { readKey } from '../../../src/api/client/key.ts'

describe('limits that /me does not report', () => {
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

describe('a limit is plausible', () => {
  test.each([
    [1, 1, 1],
    [100_000, 100_000, 100_000],
    [100_001, 60, 100_001],
    [100_000_000, 60, 100_000_000],
    [100_000_001, 60, 5_000],
  ])('%i: %i a minute, %i a day', (sent, perMinute, perDay) => {
    const key = readKey({ rateLimitPerMinute: sent, rateLimitPerDay: sent }, Buffer.alloc(0))
    expect([key.rateLimitPerMinute, key.rateLimitPerDay]).toEqual([perMinute, perDay])
  })

  test.each([
    [{ rateLimitPerMinute: 7, rateLimitPerDay: 7 }, undefined],
    [{ rateLimitPerMinute: 7 }, { perMinute: false, perDay: true }],
    [{ rateLimitPerDay: 7 }, { perMinute: true, perDay: false }],
    [{}, { perMinute: true, perDay: true }],
  ])('else the key says that it is assumed: %j', (data, assumed) => {
    const key = readKey(data, Buffer.alloc(0))
    expect(key.isAssumed).toEqual(assumed)
    expect(Object.hasOwn(key, 'isAssumed')).toBe(assumed !== undefined)
  })
})

describe('what a key is', () => {
  const bytes = Buffer.from('{}')

  test('is as sent, with nothing that was not', () => {
    const sent = {
      ...{ name: 'k', description: 'd', scopes: ['a', 7], rateLimitPerMinute: 6, rateLimitPerDay: 9 },
      ...{ usage: { requestsToday: 0, remainingToday: 100_000_000, resetsAt: 't' } },
      ...{ ipAllowlist: ['10.0.0.1', null], expiresAt: 'e', lastUsedAt: 'l', createdAt: 'c' },
      companies: ['c1', { id: 'c2', name: 'Two' }, { id: 'c3' }, { id: 4 }, { name: 'x' }, null],
    }
    expect(readKey(sent, bytes)).toEqual({
      ...{ kind: 'company', name: 'k', description: 'd', scopes: ['a'] },
      ...{ rateLimitPerMinute: 6, rateLimitPerDay: 9, usage: sent.usage, bytes },
      ...{ ipAllowlist: ['10.0.0.1'], expiresAt: 'e', lastUsedAt: 'l', createdAt: 'c' },
      companies: [
        { id: 'c1', name: '' },
        { id: 'c2', name: 'Two' },
        { id: 'c3', name: '' },
      ],
    })
  })

  test('is empty where nothing was sent, or values of other types', () => {
    const nothing = readKey({}, bytes)
    expect(Object.keys(nothing).sort()).toEqual([
      ...['bytes', 'description', 'isAssumed', 'kind', 'name', 'rateLimitPerDay', 'rateLimitPerMinute'],
      ...['scopes', 'usage'],
    ])
    expect([nothing.name, nothing.description, nothing.scopes]).toEqual(['', '', []])
    const odd = { name: 1, description: [], scopes: 'a', ipAllowlist: '10.0.0.1', expiresAt: 7 }
    expect(readKey({ ...odd, companies: {}, agencies: 'a' }, bytes)).toEqual(nothing)
  })

  test.each([
    [{ requestsToday: -1 }, {}],
    [{ requestsToday: 0 }, { requestsToday: 0 }],
    [{ requestsToday: 100_000_001, remainingToday: 100_000_001 }, {}],
    [{ remainingToday: -0.5 }, { remainingToday: 0 }],
    [{ remainingToday: 0.5 }, {}],
    [{ remainingToday: 0 }, { remainingToday: 0 }],
    [undefined, {}],
  ])('has a usage of %j: %j', (usage, expected) => {
    expect(readKey({ usage }, bytes).usage).toEqual(expected)
  })
})
