/** When a record counts as deleted: as a pure decision, over any evidence. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type DeletionCandidate,
  type DeletionEvidence,
  decide,
  isPlausibleLoss,
  isProved,
  maxAtOnce,
  worthOf,
} from '../../../src/sync/deletions/decision.ts'
import { agrees, sweptRows } from '../../../src/sync/deletions/swept-page.ts'

const word = fc.record({
  kind: fc.constantFrom('sweep' as const, 'by-id 404' as const, 'event' as const),
  source: fc.constantFrom('run 1', 'run 2', 'run 3'),
  seenAt: fc.integer({ min: 1, max: 9 }).map(n => `2026-11-0${n}T02:00:00.000Z`),
  scopeId: fc.constantFrom('now', 'before', null),
  isPredecessors: fc.constant(false),
})

const candidate: fc.Arbitrary<DeletionCandidate> = fc.record({
  id: fc.uuid(),
  isFetchedWithScope: fc.boolean(),
  evidence: fc.array(word, { maxLength: 4 }),
})

const valid = ({ evidence }: DeletionCandidate): DeletionEvidence[] =>
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

  /** Candidates are live records, beside which there are others. */
  const list = fc.record({ all: fc.array(candidate, { maxLength: 60 }), others: fc.nat(3000) })
  const twice = ['run 1', 'run 2'].map(source => ({
    kind: 'sweep' as const,
    source,
    seenAt: '2026-11-02T02:00:00.000Z',
    scopeId: 'now',
  }))
  const proved = fc.tuple(candidate, fc.boolean()).map(([one, isQuiet]) => ({
    ...one,
    evidence: isQuiet ? twice : [...twice, ...one.evidence],
  }))
  const few = fc.record({ all: fc.array(proved, { maxLength: 24 }), others: fc.nat(12) })
  const isAnnounced = ({ evidence }: DeletionCandidate) => evidence.some(({ kind }) => kind === 'event')

  test('empties no list, takes at most half of one and none in a landslide, unless the operator confirms it', () => {
    let emptied = 0
    let halved = 0
    fc.assert(
      fc.property(
        fc.oneof(list, few),
        fc.option(fc.nat(60), { freq: 1 }),
        ({ all, others }, maxDeletions) => {
          const live = all.length + others
          const proved = all.filter(one => isProved(one, 'now'))
          const { deleted, implausible } = decide(all, {
            scopeId: 'now',
            live,
            ...(maxDeletions !== null && { maxDeletions }),
          })
          const announced = proved.filter(isAnnounced).length
          const unannounced = proved.length - announced
          const unheard = live - announced
          const isLandslide = proved.length > Math.max(20, Math.floor(live / 50))
          const isEmptied = unannounced > 0 && unannounced === unheard
          const isHalved = unheard >= 3 && unannounced > unheard / 2
          const isDoubted =
            maxDeletions === null ? isLandslide || isEmptied || isHalved : proved.length > maxDeletions
          expect([deleted.length, implausible]).toEqual(
            isDoubted ? [0, proved.length] : [proved.length, undefined],
          )
          if (maxDeletions === null) {
            emptied += Number(isEmptied)
            halved += Number(isHalved && !isLandslide && !isEmptied)
          }
        },
      ),
      { numRuns: 1000 },
    )
    expect(emptied).toBeGreaterThan(10)
    expect(halved).toBeGreaterThan(10)
  })

  test('counts what by-id fetches and a sweep may find missing in the same way', () => {
    for (const [records, maxDeletions] of [
      [0, 0],
      [1, 0],
      [2, 1],
      [3, 1],
      [4, 2],
      [19, 9],
      [41, 20],
      [999, 20],
      [1500, 30],
    ] as const)
      expect([records, maxAtOnce(records)]).toEqual([records, maxDeletions])
    expect(maxAtOnce(19, 19)).toBe(19)
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
  const proved = (...evidence: DeletionEvidence[]) =>
    isProved({ id: 'x', isFetchedWithScope: false, evidence }, 'now')
  expect([proved(before, own), proved(before, again), proved(before)]).toEqual([true, false, false])
  expect(proved({ ...before, isPredecessors: false }, own)).toBe(false)
})

describe('a sweep', () => {
  test('is evidence unless the scope is new or too much is missing', () => {
    expect(worthOf({ judged: 100, missing: 20, isNewScope: false })).toBe('evidence')
    expect(worthOf({ judged: 100, missing: 21, isNewScope: false })).toBe('implausible')
    expect(worthOf({ judged: 100, missing: 21, isNewScope: false, maxDeletions: 21 })).toBe('evidence')
    expect(worthOf({ judged: 5000, missing: 100, isNewScope: false })).toBe('evidence')
    expect(worthOf({ judged: 5000, missing: 101, isNewScope: false })).toBe('implausible')
    expect(worthOf({ judged: 100, missing: 0, isNewScope: true })).toBe('baseline')
    for (const [judged, missing, announced, worth] of [
      [19, 9, 0, 'evidence'],
      [19, 10, 0, 'implausible'],
      [19, 19, 0, 'implausible'],
      [19, 19, 19, 'evidence'],
      [19, 19, 18, 'implausible'],
      [2, 1, 0, 'evidence'],
      [2, 2, 0, 'implausible'],
      [1, 1, 0, 'implausible'],
      [1, 1, 1, 'evidence'],
      [0, 0, 0, 'evidence'],
    ] as const)
      expect([
        judged,
        missing,
        announced,
        worthOf({ judged, missing, announced, isNewScope: false }),
      ]).toEqual([judged, missing, announced, worth])
    expect(worthOf({ judged: 19, missing: 19, isNewScope: false, maxDeletions: 19 })).toBe('evidence')
  })

  test('believes a page whose rows and total agree, and no other', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.nat(1500), (page, total) => {
        const rows = Array.from({ length: total }).slice((page - 1) * 200, page * 200).length
        expect(agrees({ page, total, size: 200 }, rows)).toBe(true)
        expect(agrees({ page, total, size: 200 }, rows + 1)).toBe(false)
        if (rows > 0) expect(agrees({ page, total, size: 200 }, rows - 1)).toBe(false)
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

test.each([
  [1, 1, undefined, true],
  [2, 2, undefined, true],
  [3, 1, undefined, true],
  [3, 2, undefined, false],
  [4, 2, undefined, true],
  [1000, 500, undefined, true],
  [1000, 501, undefined, false],
  [2, 2, 1, false],
  [1000, 501, 501, true],
])('a snapshot of %i records that lacks %i, where --max-deletions is %j, is plausible: %s', (...row) => {
  const [stored, missing, maxDeletions, is] = row
  expect(isPlausibleLoss({ stored, missing }, maxDeletions)).toBe(is)
})
