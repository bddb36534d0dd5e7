/** When a record counts as deleted: as a pure decision, over any witnesses. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  decide,
  isProved,
  mostAtOnce,
  type Suspect,
  type Word,
  worthOf,
} from '../../src/sync/deletions/deletion-verdict.ts'
import { agrees, sweptRows } from '../../src/sync/deletions/swept-page.ts'

const word = fc.record({
  kind: fc.constantFrom('sweep' as const, 'by-id 404' as const, 'event' as const),
  source: fc.constantFrom('run 1', 'run 2', 'run 3'),
  seenAt: fc.integer({ min: 1, max: 9 }).map(n => `2026-11-0${n}T02:00:00.000Z`),
  scopeId: fc.constantFrom('now', 'before', null),
  isPredecessors: fc.constant(false),
})

const suspect: fc.Arbitrary<Suspect> = fc.record({
  id: fc.uuid(),
  isFetchedWithScope: fc.boolean(),
  words: fc.array(word, { maxLength: 4 }),
})

const valid = ({ words }: Suspect): Word[] =>
  words.filter(({ kind, scopeId }) => kind === 'event' || scopeId === 'now')

describe('the verdict over suspects', () => {
  test('needs two witnesses that are not the same one twice, whatever else is said', () => {
    fc.assert(
      fc.property(fc.array(suspect, { maxLength: 15 }), suspects => {
        for (const { suspect: gone, at } of decide(suspects, { scopeId: 'now', live: 10 }).gone) {
          const words = valid(gone)
          const sources = new Set(words.map(({ kind, source }) => (kind === 'event' ? kind : kind + source)))
          expect(sources.size).toBeGreaterThanOrEqual(2)
          expect(words.map(({ seenAt }) => seenAt)).toContain(at)
          expect(words.every(({ seenAt }) => seenAt <= at)).toBe(true)
        }
      }),
    )
  })

  test('does not hear witnesses of another scope, in whatever number', () => {
    fc.assert(
      fc.property(suspect, fc.array(word, { maxLength: 5 }), (one, more) => {
        const elsewhere = more
          .filter(({ kind }) => kind !== 'event')
          .map(other => ({ ...other, scopeId: 'before' }))
        const loud = { ...one, words: [...one.words, ...elsewhere] }
        expect(isProved(loud, 'now')).toBe(isProved(one, 'now'))
      }),
    )
  })

  test('is the same for more witnesses: none of them takes a proof back', () => {
    fc.assert(
      fc.property(suspect, word, (one, more) => {
        if (isProved(one, 'now')) expect(isProved({ ...one, words: [...one.words, more] }, 'now')).toBe(true)
      }),
    )
  })

  test('lets none go when more would go than is to be believed, and all of them otherwise', () => {
    fc.assert(
      fc.property(
        fc.array(suspect, { maxLength: 60 }),
        fc.nat(4000),
        fc.option(fc.nat(60)),
        (all, live, most) => {
          const circumstances = { scopeId: 'now', live, ...(most !== null && { most }) }
          const proved = all.filter(one => isProved(one, 'now')).length
          const { gone, doubted } = decide(all, circumstances)
          const limit = most ?? Math.max(20, Math.floor(live / 50))
          expect(mostAtOnce(live, most ?? undefined)).toBe(limit)
          expect([gone.length, doubted]).toEqual(proved > limit ? [0, proved] : [proved, undefined])
        },
      ),
    )
  })

  test('takes no 404 by id as proof of what the scope has never shown', () => {
    const words = ['run 1', 'run 2'].map(source => ({
      kind: 'by-id 404' as const,
      source,
      seenAt: '2026-11-02T02:00:00.000Z',
      scopeId: 'now',
      isPredecessors: false,
    }))
    expect(isProved({ id: 'x', isFetchedWithScope: false, words }, 'now')).toBe(false)
    expect(isProved({ id: 'x', isFetchedWithScope: true, words }, 'now')).toBe(true)
    const event = {
      kind: 'event' as const,
      source: 'e',
      seenAt: '2026-11-02T02:00:00.000Z',
      scopeId: null,
      isPredecessors: false,
    }
    expect(isProved({ id: 'x', isFetchedWithScope: false, words: [words[0]!, event] }, 'now')).toBe(true)
  })
})

test('hears a 404 to the key that was replaced beside one of its own, and never without', () => {
  const at = { kind: 'by-id 404' as const, seenAt: '2026-11-02T02:00:00.000Z' }
  const before = { ...at, source: 'run 1', scopeId: 'before', isPredecessors: true }
  const again = { ...before, source: 'run 2' }
  const own = { ...at, source: 'run 3', scopeId: 'now', isPredecessors: false }
  const proved = (...words: Word[]) => isProved({ id: 'x', isFetchedWithScope: false, words }, 'now')
  expect([proved(before, own), proved(before, again), proved(before)]).toEqual([true, false, false])
  expect(proved({ ...before, isPredecessors: false }, own)).toBe(false)
})

describe('a sweep', () => {
  test('is worth a witness unless the scope is new or too much is missing', () => {
    expect(worthOf({ judged: 100, missing: 20, isNewScope: false })).toBe('witness')
    expect(worthOf({ judged: 100, missing: 21, isNewScope: false })).toBe('doubted')
    expect(worthOf({ judged: 100, missing: 21, isNewScope: false, most: 21 })).toBe('witness')
    expect(worthOf({ judged: 5000, missing: 100, isNewScope: false })).toBe('witness')
    expect(worthOf({ judged: 5000, missing: 101, isNewScope: false })).toBe('doubted')
    expect(worthOf({ judged: 100, missing: 0, isNewScope: true })).toBe('baseline')
  })

  test('believes a page whose rows and total agree, and no other', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.nat(1500), (page, total) => {
        const rows = Array.from({ length: total }).slice((page - 1) * 200, page * 200).length
        expect(agrees({ page, total }, rows)).toBe(true)
        expect(agrees({ page, total }, rows + 1)).toBe(false)
        if (rows > 0) expect(agrees({ page, total }, rows - 1)).toBe(false)
      }),
    )
  })

  test('concludes nothing from a page with a record that has no id', () => {
    expect(
      sweptRows([
        { id: 'a', updatedAt: '2026-01-05T00:00:00Z' },
        { id: 'b', updatedAt: 7 },
      ]),
    ).toEqual([
      { id: 'a', createdAt: null, updatedAt: '2026-01-05T00:00:00Z' },
      { id: 'b', createdAt: null, updatedAt: null },
    ])
    for (const record of [{}, { id: 5 }, { id: '' }, null, undefined, 'x'])
      expect(sweptRows([{ id: 'a' }, record])).toBeUndefined()
  })
})
