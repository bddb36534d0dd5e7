/** What counts as the proof of a scan, by examples of each kind and as properties. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expectedIds, judge, mostPasses, type PassFigures } from '../../src/sync/paging/proof.ts'

const figures = (parts: Partial<PassFigures>): PassFigures => ({
  kind: 'backfill',
  isWhole: true,
  attempt: 1,
  pages: 2,
  firstTotal: 400,
  leastTotal: 400,
  greatestTotal: 400,
  lastTotal: 400,
  distinctIds: 400,
  ...parts,
})

const decisions = (all: readonly Partial<PassFigures>[]) => all.map(parts => judge(figures(parts)))

const totals = fc.nat(500)
const anyFigures = fc
  .record({
    kind: fc.constantFrom('backfill' as const, 'incremental' as const, 'snapshot' as const, 'sweep' as const),
    isWhole: fc.boolean(),
    attempt: fc.integer({ min: 1, max: 6 }),
    pages: fc.integer({ min: 1, max: 9 }),
    totals: fc.tuple(totals, totals, totals),
    distinctIds: totals,
    rows: totals,
  })
  .map(({ totals: [left, middle, right], ...rest }): PassFigures => {
    const all = [left, middle, right]
    return {
      ...rest,
      firstTotal: left,
      leastTotal: Math.min(...all),
      greatestTotal: Math.max(...all),
      lastTotal: right,
    }
  })

describe('a backfill window', () => {
  test('needs as many ids as the service ever claimed in its first pass', () => {
    expect(
      decisions([
        { distinctIds: 4, greatestTotal: 5 },
        { distinctIds: 5, greatestTotal: 5 },
        { distinctIds: 6, greatestTotal: 5 },
        { distinctIds: 0, greatestTotal: 0 },
      ]),
    ).toEqual(['scan again', 'accepted', 'accepted', 'accepted'])
  })

  test('needs in later passes as many ids as there were when the last of them began', () => {
    const grown = { attempt: 2, firstTotal: 400, greatestTotal: 402 }
    expect([399, 400].map(distinctIds => judge(figures({ ...grown, distinctIds })))).toEqual([
      'scan again',
      'accepted',
    ])
    expect(expectedIds(figures(grown))).toBe(400)
  })

  test('is refused after six passes', () => {
    const short = { distinctIds: 399 }
    expect(decisions([5, 6].map(attempt => ({ ...short, attempt })))).toEqual(['scan again', 'refused'])
  })
})

describe('an incremental scan', () => {
  test('is accepted where it met what is known, and counts ids where it read the whole list', () => {
    const short = { kind: 'incremental', distinctIds: 3 } as const
    expect(decisions([{ ...short, isWhole: false }, short])).toEqual(['accepted', 'scan again'])
  })
})

describe('a snapshot of several pages', () => {
  const list = { kind: 'snapshot', rows: 400 } as const

  test('needs one total on all pages, and as many rows', () => {
    expect(
      decisions([
        list,
        { ...list, rows: 399 },
        { ...list, leastTotal: 399 },
        { ...list, greatestTotal: 401 },
      ]),
    ).toEqual(['accepted', 'scan again', 'scan again', 'scan again'])
  })

  test('that removes rows must show the same rows twice', () => {
    const digests = { digest: 'a', previousDigest: 'a' }
    expect(
      decisions([
        { ...list, ...digests },
        { ...list, ...digests, digest: 'b' },
      ]),
    ).toEqual(['accepted', 'scan again'])
  })

  test('is refused after four passes', () => {
    expect(decisions([3, 4].map(attempt => ({ ...list, rows: 1, attempt })))).toEqual([
      'scan again',
      'refused',
    ])
  })
})

describe('a sweep', () => {
  const sweep = { kind: 'sweep' } as const

  test('needs every id ever claimed, or after three passes those of its beginning', () => {
    expect(
      decisions([
        sweep,
        { ...sweep, distinctIds: 399 },
        { ...sweep, greatestTotal: 401 },
        { ...sweep, attempt: 4, greatestTotal: 404 },
        { ...sweep, attempt: 4, greatestTotal: 405 },
        { ...sweep, attempt: 4, distinctIds: 399, greatestTotal: 404 },
        { ...sweep, attempt: 6, distinctIds: 399 },
      ]),
    ).toEqual(['accepted', 'scan again', 'scan again', 'accepted', 'scan again', 'scan again', 'refused'])
  })
})

describe('any pass', () => {
  test('that is accepted stays so with more ids, and one with fewer is not better', () => {
    fc.assert(
      fc.property(anyFigures, fc.nat(50), (drawn, more) => {
        const seen = { ...drawn, distinctIds: drawn.distinctIds + more }
        return judge(drawn) !== 'accepted' || judge(seen) === 'accepted'
      }),
    )
  })

  test('that is not whole proves a list of ids by nothing but its ids', () => {
    fc.assert(
      fc.property(anyFigures, drawn => {
        const isCounted = drawn.kind === 'sweep' || (drawn.kind === 'backfill' && drawn.isWhole)
        return !isCounted || judge(drawn) !== 'accepted' || drawn.distinctIds >= drawn.firstTotal
      }),
    )
  })

  test('is refused only when its kind has no pass left', () => {
    fc.assert(
      fc.property(anyFigures, drawn => judge(drawn) !== 'refused' || drawn.attempt >= mostPasses[drawn.kind]),
    )
  })
})
