/** Readings of the scopes of a snapshot: accepted together, the last of each, and what they hide. */
import { describe, expect, test } from 'vitest'
import {
  acceptScopes,
  hiddenInScopes,
  lastCompleteReading,
  lastReadings,
  retireReadings,
} from '../../../src/state/scans/scopes.ts'
import type { ScanRow } from '../../../src/state/scans/tables.ts'
import { hour, ledgerBench, scan } from '../../support/ledger-bench.ts'

const bench = ledgerBench()

const reading = (id: string, scope: string | null, parts: Partial<ScanRow> = {}) =>
  scan(id, { kind: 'snapshot', state: 'accepted', scope, accepted_at: hour(2), ...parts })

test('scopes are accepted together, each with its own figures, and no others', async () => {
  await bench.insert('ops.scan', scan(`it's`), scan('b'), scan('c'))
  const figures = { pages: 1, loadedSequence: 2, total: 3, shown: 4 }
  await acceptScopes(
    bench.engine,
    [
      { scanId: `it's`, ...figures },
      { scanId: 'b', ...figures, pages: 9 },
    ],
    hour(3),
  )
  const totals = { first_total: 3, last_total: 3, expected_ids: 4, distinct_ids: 4 }
  const accepted = { state: 'accepted', accepted_at: hour(3), next_page: 0, loaded_sequence: 2, ...totals }
  expect(await bench.rows('select * from ops.scan order by scan_id')).toMatchObject([
    { scan_id: 'b', ...accepted, pages: 9 },
    { scan_id: 'c', state: 'scanning', accepted_at: null },
    { scan_id: `it's`, ...accepted, pages: 1 },
  ])
})

test('the last reading of a scope is its latest accepted one', async () => {
  await bench.insert(
    'ops.scan',
    reading('a', 'c1', { started_at: hour(3), accepted_at: hour(4) }),
    reading('b', 'c1', { started_at: hour(1), accepted_at: hour(2) }),
    reading('c', 'c2', { started_at: hour(5), accepted_at: hour(6) }),
    reading('refused', 'c1', { started_at: hour(8), accepted_at: hour(9), state: 'refused' }),
    reading('other', 'c1', { started_at: hour(8), accepted_at: hour(9), resource: 'x' }),
    reading('whole', null),
  )
  const last = await lastReadings(bench.engine, 'expenses')
  expect([...last].sort().map(([scope, row]) => [scope, row.started_at, row.accepted_at])).toEqual([
    ['c1', hour(3), hour(4)],
    ['c2', hour(5), hour(6)],
  ])
})

test('a scope hid what it counted and showed on no page when it was last read completely', async () => {
  const figures = (total: number, shown: number) => ({ last_total: total, expected_ids: shown })
  await bench.insert(
    'ops.scan',
    reading('a', 'c1', { ...figures(1, 1), started_at: hour(1) }),
    reading('b', 'c1', { ...figures(10, 7), started_at: hour(3) }),
    reading('c', 'c1', { ...figures(2, 2), started_at: hour(2) }),
    reading('refused', 'c1', { ...figures(9, 9), started_at: hour(8), state: 'refused' }),
    reading('other scope', 'c2', { ...figures(9, 9), started_at: hour(8) }),
    reading('other list', 'c1', { ...figures(9, 9), started_at: hour(8), resource: 'x' }),
  )
  expect(await lastCompleteReading(bench.engine, 'expenses', 'c1')).toEqual({ total: 10, hidden: 3 })
  expect(await lastCompleteReading(bench.engine, 'expenses', 'c3')).toBeUndefined()
})

describe('rows hidden in scopes', () => {
  const hides = (rows: number, parts: Partial<ScanRow> = {}) =>
    reading('s', 'c1', { last_total: 10 + rows, expected_ids: 10, ...parts })

  test.each<[string, readonly ScanRow[], number]>([
    ['are summed over the scans that count', [hides(3), hides(4)], 7],
    ['are none where more were shown than counted', [hides(3), hides(-5)], 3],
    ['are not those of a scan that was not accepted', [hides(3, { state: 'refused' })], 0],
    ['are not those of other kinds', [hides(3, { kind: 'backfill' })], 0],
    [
      'are not those of a scope that is no longer readable',
      [hides(3, { scope: 'c1, no longer readable' })],
      0,
    ],
    ['are those of a scope that is only named like it', [hides(3, { scope: ', no longer readable c1' })], 3],
    ['are those of a list without scopes', [hides(3, { scope: null })], 3],
    ['are none without scans', [], 0],
  ])('%s', (...[, scans, hidden]) => expect(hiddenInScopes(scans)).toBe(hidden))

  test('of a scope are gone when it is no longer expected', async () => {
    await bench.insert(
      'ops.scan',
      reading('a', 'c1'),
      reading('b', 'c2'),
      reading('c', 'c1', { resource: 'x' }),
    )
    await retireReadings(bench.engine, 'expenses', 'c1')
    expect(await bench.column('select scope from ops.scan order by scan_id')).toEqual([
      ...['c1, no longer readable', 'c2', 'c1'],
    ])
  })
})
