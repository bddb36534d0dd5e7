/** When a record counts as deleted: as a pure decision, over any evidence. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Candidate,
  decide,
  type Evidence,
  isProved,
  mostAtOnce,
  worthOf,
} from '../../src/sync/deletions/decision.ts'
import { agrees, sweptRows } from '../../src/sync/deletions/swept-page.ts'

const word = fc.record({
  kind: fc.constantFrom('sweep' as const, 'by-id 404' as const, 'event' as const),
  source: fc.constantFrom('run 1', 'run 2', 'run 3'),
  seenAt: fc.integer({ min: 1, max: 9 }).map(n => `2026-11-0${n}T02:00:00.000Z`),
  scopeId: fc.constantFrom('now', 'before', null),
  isPredecessors: fc.constant(false),
})

const candidate: fc.Arbitrary<Candidate> = fc.record({
  id: fc.uuid(),
  isFetchedWithScope: fc.boolean(),
  evidence: fc.array(word, { maxLength: 4 }),
})

const valid = ({ evidence }: Candidate): Evidence[] =>
  evidence.filter(({ kind, scopeId }) => kind === 'event' || scopeId === 'now')

describe('the verdict over candidates', () => {
  test('needs two different pieces of evidence, whatever else there is', () => {
    fc.assert(
      fc.property(fc.array(candidate, { maxLength: 15 }), candidates => {
        for (const { candidate: proved, at } of decide(candidates, { scopeId: 'now', live: 10 }).deleted) {
          const evidence = valid(proved)
          const sources = new Set(
            evidence.map(({ kind, source }) => (kind === 'event' ? kind : kind + source)),
          )
          expect(sources.size).toBeGreaterThanOrEqual(2)
          expect(evidence.map(({ seenAt }) => seenAt)).toContain(at)
          expect(evidence.every(({ seenAt }) => seenAt <= at)).toBe(true)
        }
      }),
    )
  })

  test('ignores evidence of another scope, however much there is', () => {
    fc.assert(
      fc.property(candidate, fc.array(word, { maxLength: 5 }), (one, more) => {
        const elsewhere = more
          .filter(({ kind }) => kind !== 'event')
          .map(other => ({ ...other, scopeId: 'before' }))
        const loud = { ...one, evidence: [...one.evidence, ...elsewhere] }
        expect(isProved(loud, 'now')).toBe(isProved(one, 'now'))
      }),
    )
  })

  test('stays the same with more evidence, which never takes a proof back', () => {
    fc.assert(
      fc.property(candidate, word, (one, more) => {
        if (isProved(one, 'now'))
          expect(isProved({ ...one, evidence: [...one.evidence, more] }, 'now')).toBe(true)
      }),
    )
  })

  test('lets none go when more would go than is to be believed, and all of them otherwise', () => {
    fc.assert(
      fc.property(
        fc.array(candidate, { maxLength: 60 }),
        fc.nat(4000),
        fc.option(fc.nat(60)),
        (all, live, most) => {
          const circumstances = { scopeId: 'now', live, ...(most !== null && { most }) }
          const proved = all.filter(one => isProved(one, 'now')).length
          const { deleted, doubted } = decide(all, circumstances)
          const limit = most ?? Math.max(20, Math.floor(live / 50))
          expect(mostAtOnce(live, most ?? undefined)).toBe(limit)
          expect([deleted.length, doubted]).toEqual(proved > limit ? [0, proved] : [proved, undefined])
        },
      ),
    )
  })

  test('takes no 404 by id as proof of what the scope has never shown', () => {
    const evidence = ['run 1', 'run 2'].map(source => ({
      kind: 'by-id 404' as const,
      source,
      seenAt: '2026-11-02T02:00:00.000Z',
      scopeId: 'now',
      isPredecessors: false,
    }))
    expect(isProved({ id: 'x', isFetchedWithScope: false, evidence }, 'now')).toBe(false)
    expect(isProved({ id: 'x', isFetchedWithScope: true, evidence }, 'now')).toBe(true)
    const event = {
      kind: 'event' as const,
      source: 'e',
      seenAt: '2026-11-02T02:00:00.000Z',
      scopeId: null,
      isPredecessors: false,
    }
    expect(isProved({ id: 'x', isFetchedWithScope: false, evidence: [evidence[0]!, event] }, 'now')).toBe(
      true,
    )
  })
})

test('hears a 404 to the key that was replaced beside one of its own, and never without', () => {
  const at = { kind: 'by-id 404' as const, seenAt: '2026-11-02T02:00:00.000Z' }
  const before = { ...at, source: 'run 1', scopeId: 'before', isPredecessors: true }
  const again = { ...before, source: 'run 2' }
  const own = { ...at, source: 'run 3', scopeId: 'now', isPredecessors: false }
  const proved = (...evidence: Evidence[]) =>
    isProved({ id: 'x', isFetchedWithScope: false, evidence }, 'now')
  expect([proved(before, own), proved(before, again), proved(before)]).toEqual([true, false, false])
  expect(proved({ ...before, isPredecessors: false }, own)).toBe(false)
})

describe('a sweep', () => {
  test('is evidence unless the scope is new or too much is missing', () => {
    expect(worthOf({ judged: 100, missing: 20, isNewScope: false })).toBe('evidence')
    expect(worthOf({ judged: 100, missing: 21, isNewScope: false })).toBe('doubted')
    expect(worthOf({ judged: 100, missing: 21, isNewScope: false, most: 21 })).toBe('evidence')
    expect(worthOf({ judged: 5000, missing: 100, isNewScope: false })).toBe('evidence')
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
