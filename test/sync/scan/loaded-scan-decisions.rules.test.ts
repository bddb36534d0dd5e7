/** Whether a loaded scan is accepted, what it leaves to the next one, and which first answers are asked for again. */
import { describe, expect, test } from 'vitest'
import { freshScan } from '../../../src/state/scans/scans.ts'
import type { ScanRow } from '../../../src/state/scans/tables.ts'
import type { PassFigures } from '../../../src/sync/paging/proof.ts'
import { isAllowedLoss } from '../../../src/sync/scan/empty-list.ts'
import {
  endOf,
  isDoubtful,
  isFirstReading,
  isFullList,
  isHiddenByFilter,
  judgeLoaded,
  type LoadedScanJob,
} from '../../../src/sync/scan/loaded-scan.ts'
import { at, ms, pass, start } from '../paging/lists.ts'

const row = (parts: Partial<ScanRow> = {}): ScanRow => ({
  ...freshScan({ scan_id: 's', resource: 'sites', kind: 'backfill', run_id: 'r', started_at: at(0) }),
  ...parts,
})
const job = (parts: Partial<LoadedScanJob> = {}, rowParts: Partial<ScanRow> = {}): LoadedScanJob => ({
  ...{ row: row(rowParts), query: {}, beginAt: 1 },
  ...parts,
})
const figures = (parts: Partial<PassFigures> = {}): PassFigures => ({
  ...{ attempt: 1, starts: [start({ watermark: at(5) })], counted: [25], ids: 25, total: 25 },
  ...{ excluded: 0, hidden: 0 },
  ...parts,
})
const known = { before: ms(1) }

describe('a scan reads the complete list', () => {
  test.each<readonly [string, Partial<LoadedScanJob>, Partial<ScanRow>, boolean, boolean]>([
    ['without an end, a filter and days', {}, {}, true, true],
    ['not when it ends where it meets what is known', { known }, {}, false, false],
    ['not when it is filtered', { isFiltered: true }, {}, false, false],
    ['not from a day on', {}, { from_day: '2026-01-01' }, false, false],
    ['not up to a day', {}, { to_day: '2026-01-01' }, false, false],
    ['and not for the first time, when it was asked for', {}, { scope: 'asked for' }, true, false],
  ])('%s', (...[, parts, rowParts, isWhole, isFirst]) => {
    expect([isFullList(job(parts, rowParts)), isFirstReading(job(parts, rowParts))]).toEqual([
      isWhole,
      isFirst,
    ])
  })
})

describe('a first answer without rows', () => {
  const none = { page: 1, total: 0, empty: true }
  const begun = { pass: pass(), attempt: 1, starts: [], sequence: 0, pageSize: 10 }
  const days = job({}, { from_day: '2026-01-01' })

  test.each([
    ['of days is asked for again', {}, {}, days, true],
    ['of a list that had rows is asked for again', {}, {}, job({ hasRows: true }), true],
    ['of changes is asked for again', {}, {}, job({ known }), true],
    ['of a list that had none is taken', {}, {}, job({ hasRows: false }), false],
    ['of a list of which nothing is known is taken', {}, {}, job(), false],
    ['with a total is taken', { total: 1 }, {}, days, false],
    ['of another page is taken', { page: 2 }, {}, days, false],
    ['is none when it has rows', { empty: false }, {}, days, false],
    ['after a pass start is taken', {}, { starts: [start()] }, days, false],
    ['after a data page is taken', {}, { pass: pass({ pages: 1 }) }, days, false],
  ])('%s', (...[, answer, progress, one, expected]) => {
    expect(isDoubtful({ ...none, ...answer }, { ...begun, ...progress }, one)).toBe(expected)
  })
})

describe('a loaded scan', () => {
  test.each<readonly [string, Partial<PassFigures>, Partial<LoadedScanJob>, readonly number[], string]>([
    ['is accepted when a pass start is proved', {}, {}, [0], 'accepted'],
    ['is read again when none is', { counted: [24] }, {}, [1], 'scan again'],
    [
      'is refused after passes that bring nothing',
      { counted: [24], attempt: 5 },
      {},
      [1, 1, 1, 1, 1],
      'refused',
    ],
    [
      'is refused when its filter hides rows that it counts',
      { hidden: 1 },
      { isFiltered: true },
      [0],
      'refused',
    ],
    ['is accepted with a filter that hides none', {}, { isFiltered: true }, [0], 'accepted'],
    ['is accepted when the whole list hides rows', { hidden: 1 }, {}, [0], 'accepted'],
  ])('%s', (...[, parts, jobParts, lacks, expected]) => {
    expect(judgeLoaded(figures(parts), job(jobParts), lacks)).toBe(expected)
  })

  test.each([
    [true, 1, true],
    [true, 0, false],
    [false, 1, false],
  ])('with a filter %s that hides %i rows was refused for them: %s', (isFiltered, hidden, expected) => {
    expect(isHiddenByFilter({ hidden }, job({ isFiltered }))).toBe(expected)
  })
})

describe('an accepted scan leaves', () => {
  test('the watermark of the pass start that is proved, no later one', () => {
    const starts = [start({ pass: 1, watermark: at(5) }), start({ pass: 2, watermark: at(9) })]
    expect(endOf(figures({ starts, counted: [25, 24] }), []).watermark).toBe(at(5))
    expect(endOf(figures({ starts, counted: [24, 24] }), []).watermark).toBeNull()
  })

  test('the total of its last answer', () => {
    expect(endOf(figures({ total: 35 }), []).total).toBe(35)
  })

  test('the digests of its pages, where each has one', () => {
    expect(endOf(figures(), ['a', 'b']).digests).toBe('a b')
    expect(endOf(figures(), ['a', undefined]).digests).toBeNull()
  })
})

test.each([
  [3, 3, true],
  [4, 3, false],
  [0, 0, true],
  [0, undefined, false],
])('an empty list that had %i records is believed with --max-deletions %s: %s', (rows, most, expected) => {
  expect(isAllowedLoss(rows, most)).toBe(expected)
})
