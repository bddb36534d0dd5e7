/** Which scans of a resource count now, which a later one replaces, and what those that count saw. */
import { describe, expect, test } from 'vitest'
import { currentScans, proofOf, scansOf } from '../../../src/state/scans/proof.ts'
import { retiredScope } from '../../../src/state/scans/scans.ts'
import type { ScanRow } from '../../../src/state/scans/tables.ts'
import { hour, ledgerBench, scan } from '../../support/ledger-bench.ts'

const bench = ledgerBench()

const current = (...scans: readonly ScanRow[]) => currentScans(scans).map(one => one.scan_id)

test('the scans of a resource come oldest first, sweeps aside', async () => {
  await bench.insert(
    'ops.scan',
    ...[
      scan('c', { started_at: hour(2) }),
      scan('b', { started_at: hour(1) }),
      scan('a', { started_at: hour(2) }),
    ],
    ...[scan('sweep', { kind: 'sweep' }), scan('other', { resource: 'x' })],
  )
  expect((await scansOf(bench.engine, 'expenses')).map(one => one.scan_id)).toEqual(['b', 'a', 'c'])
})

describe('a scan is replaced', () => {
  const days = { from_day: '2026-01-05', to_day: '2026-01-09' }
  test.each<[string, Partial<ScanRow>, Partial<ScanRow>]>([
    ['by a later one of changes', { kind: 'incremental' }, { kind: 'incremental', from_day: '2026-01-01' }],
    ['by a later one by id', { kind: 'by id' }, { kind: 'by id', from_day: '2026-01-01' }],
    [
      'by a later snapshot of its scope',
      { kind: 'snapshot', scope: 'c1' },
      { kind: 'snapshot', scope: 'c1' },
    ],
    ['by a later snapshot of all', { kind: 'snapshot' }, { kind: 'snapshot' }],
    [
      'by a later snapshot of its scope from another day',
      { kind: 'snapshot', scope: 'c1 2026-01-01' },
      { kind: 'snapshot', scope: 'c1 2026-02-01' },
    ],
    ['by a later backfill of its days', days, days],
    ['by a later backfill of all days', {}, {}],
  ])('%s', (...[, first, second]) => {
    expect(current(scan('a', first), scan('b', second))).toEqual(['b'])
  })

  test.each<[string, Partial<ScanRow>, Partial<ScanRow>]>([
    ['by one of another kind', { kind: 'incremental' }, { kind: 'by id' }],
    ['by a snapshot of another scope', { kind: 'snapshot', scope: 'c1' }, { kind: 'snapshot', scope: 'c2' }],
    [
      'by a snapshot whose scope has a day in the middle of its name',
      { kind: 'snapshot', scope: '2026-01-01 c1' },
      { kind: 'snapshot', scope: '2026-02-01 c1' },
    ],
    [
      'by a snapshot whose scope does not end with its day',
      { kind: 'snapshot', scope: 'c1 2026-01-01 x' },
      { kind: 'snapshot', scope: 'c1 2026-02-01 x' },
    ],
    ['by a backfill with another first day', days, { ...days, from_day: '2026-01-06' }],
    ['by a backfill with another last day', days, { ...days, to_day: '2026-01-08' }],
    ['by a backfill from the first day', days, { ...days, from_day: null }],
    ['by a backfill to the last day', days, { ...days, to_day: null }],
  ])('not %s', (...[, first, second]) => {
    expect(current(scan('a', first), scan('b', second))).toEqual(['a', 'b'])
  })

  test('when the key saw less then than it does now', () => {
    expect(current(scan('a', { scope: retiredScope }), scan('b', { kind: 'incremental' }))).toEqual(['b'])
  })
})

describe('a backfill that was not accepted', () => {
  const days = { state: 'refused', from_day: '2026-01-05', to_day: '2026-01-09' } as const
  const covers = (later: Partial<ScanRow>, scanned: Partial<ScanRow> = {}) => {
    const accepted = { state: 'accepted', from_day: '2026-01-05', to_day: '2026-01-10' } as const
    return !current(scan('a', { ...days, ...scanned }), scan('b', { ...accepted, ...later })).includes('a')
  }

  test.each<[string, Partial<ScanRow>, boolean]>([
    ['by its days and one more', {}, true],
    ['by its days and one before', { from_day: '2026-01-04' }, true],
    ['not from a day after its first', { from_day: '2026-01-06' }, false],
    ['not to a day before its last', { to_day: '2026-01-08' }, false],
    ['to its last day, from an earlier one', { from_day: '2026-01-04', to_day: '2026-01-09' }, true],
    ['from the beginning', { from_day: null }, true],
    ['to the end', { to_day: null }, true],
    ['not by another kind', { kind: 'incremental' }, false],
    ['not by one that is refused as well', { state: 'refused' }, false],
  ])('is covered %s', (...[, later, isCovered]) => expect(covers(later)).toBe(isCovered))

  test.each<[string, Partial<ScanRow>, Partial<ScanRow>, boolean]>([
    ['from the beginning: not by one with a first day', { from_day: null }, {}, false],
    ['to the end: not by one with a last day', { to_day: null }, {}, false],
    ['from the beginning: by one from there', { from_day: null }, { from_day: null }, true],
    ['to the end: by one up to there', { to_day: null }, { to_day: null }, true],
    [
      'of all days: by one of all days',
      { from_day: null, to_day: null },
      { from_day: null, to_day: null },
      true,
    ],
  ])('%s', (...[, scanned, later, isCovered]) => expect(covers(later, scanned)).toBe(isCovered))

  test('is covered by a later scan only, whatever came between', () => {
    const whole = { state: 'accepted' } as const
    expect(current(scan('b', whole), scan('a', days))).toEqual(['b', 'a'])
    const between = scan('i', { kind: 'incremental' })
    expect(current(scan('a', days), between, scan('b', whole))).toEqual(['i', 'b'])
  })

  test('is not covered where it was accepted itself', () => {
    expect(current(scan('a', { ...days, state: 'accepted' }), scan('b', { state: 'accepted' }))).toEqual([
      ...['a', 'b'],
    ])
  })

  test('alone is', () => {
    const kinds = ['snapshot', 'by id'] as const
    const refused = kinds.map(kind => scan(kind, { kind, state: 'refused' }))
    expect(current(...refused, scan('b', { state: 'accepted' }))).toEqual(['snapshot', 'by id', 'b'])
  })
})

describe('the proof', () => {
  test('sums what scans of complete lists saw and needed, and counts all by state', () => {
    const figures = { distinct_ids: 10, expected_ids: 12, pages: 3 }
    const scans = [
      scan('a', { ...figures, from_day: '2026-01-01', state: 'accepted', attempt: 2 }),
      scan('b', { ...figures, to_day: '2026-01-01', state: 'refused', attempt: 5 }),
      scan('c', { ...figures, kind: 'snapshot', state: 'accepted' }),
      scan('d', { ...figures, kind: 'incremental', state: 'accepted' }),
      scan('e', { ...figures, kind: 'by id' }),
    ]
    expect(proofOf(scans)).toEqual({
      ...{ accepted: 3, scanning: 1, refused: 1, distinctIds: 30, expectedIds: 36, pages: 15, attempts: 5 },
    })
  })

  test('adds figures that an engine gives as text', () => {
    const texts = {
      distinct_ids: '1',
      expected_ids: '2',
      pages: '3',
      attempt: '4',
    } as unknown as Partial<ScanRow>
    expect(proofOf([scan('a', { ...texts, kind: 'snapshot' }), scan('b', texts)])).toMatchObject({
      ...{ distinctIds: 2, expectedIds: 4, pages: 6, attempts: 4 },
    })
  })

  test('of nothing is zero', () => {
    expect(proofOf([])).toEqual({
      ...{ accepted: 0, scanning: 0, refused: 0, distinctIds: 0, expectedIds: 0, pages: 0, attempts: 0 },
    })
  })
})
