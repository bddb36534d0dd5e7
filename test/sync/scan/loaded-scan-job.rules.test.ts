/** Whether a loaded scan is accepted, what it leaves to the next one, and which first answers are asked for again. */
import { describe, expect, test } from 'vitest'
import { freshScan } from '../../../src/state/scans/scans.ts'
import type { ScanRow } from '../../../src/state/scans/tables.ts'
import type { PassFigures } from '../../../src/sync/paging/proof.ts'
import { isBelieved } from '../../../src/sync/scan/empty-list.ts'
import {
  endOf,
  isDoubtful,
  isFirstReading,
  isHiddenByFilter,
  isWholeList,
  judgeLoaded,
  type LoadedScanJob,
  learntOf,
} from '../../../src/sync/scan/loaded-scan-job.ts'
import { at, base, ms, pass } from '../paging/lists.ts'

const row = (parts: Partial<ScanRow> = {}): ScanRow => ({
  ...freshScan({ scan_id: 's', resource: 'sites', kind: 'backfill', run_id: 'r', started_at: at(0) }),
  ...parts,
})
const job = (parts: Partial<LoadedScanJob> = {}, rowParts: Partial<ScanRow> = {}): LoadedScanJob => ({
  ...{ row: row(rowParts), query: {}, beginAt: 1 },
  ...parts,
})
const figures = (parts: Partial<PassFigures> = {}): PassFigures => ({
  ...{ attempt: 1, bases: [base({ watermark: at(5) })], counted: [25], ids: 25, claimed: 25 },
  ...{ excluded: 0, hidden: 0, isCapped: false },
  ...parts,
})
const known = { before: ms(1) }

describe('a scan reads the whole list', () => {
  test.each<readonly [string, Partial<LoadedScanJob>, Partial<ScanRow>, boolean, boolean]>([
    ['without an end, a filter and days', {}, {}, true, true],
    ['not when it ends where it meets what is known', { known }, {}, false, false],
    ['not when it is filtered', { isFiltered: true }, {}, false, false],
    ['not from a day on', {}, { from_day: '2026-01-01' }, false, false],
    ['not up to a day', {}, { to_day: '2026-01-01' }, false, false],
    ['and not for the first time, when it was asked for', {}, { scope: 'asked for' }, true, false],
  ])('%s', (...[, parts, rowParts, isWhole, isFirst]) => {
    expect([isWholeList(job(parts, rowParts)), isFirstReading(job(parts, rowParts))]).toEqual([
      isWhole,
      isFirst,
    ])
  })
})

describe('a first answer without rows', () => {
  const none = { page: 1, total: 0, empty: true }
  const begun = { pass: pass(), attempt: 1, bases: [], sequence: 0 }
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
    ['after a pass start is taken', {}, { bases: [base()] }, days, false],
    ['after a page with rows is taken', {}, { pass: pass({ furthest: 1 }) }, days, false],
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
    const bases = [base({ pass: 1, watermark: at(5) }), base({ pass: 2, watermark: at(9) })]
    const state = pass({ watermark: at(9) })
    expect(endOf(state, figures({ bases, counted: [25, 24] }), []).watermark).toBe(at(5))
    expect(endOf(state, figures({ bases, counted: [24, 24] }), []).watermark).toBeNull()
  })

  test.each([
    ['of its last answer', { lastTotal: 25, base: base({ total: 30 }) }, 25],
    [
      'of its pass start, where totals are too low',
      { lastTotal: 25, isCapped: true, base: base({ total: 30 }) },
      30,
    ],
    [
      'of its last answer, where that is greater',
      { lastTotal: 35, isCapped: true, base: base({ total: 30 }) },
      35,
    ],
    ['of its last answer without a pass start', { lastTotal: 25, isCapped: true }, 25],
  ])('the total %s', (...[, parts, total]) => {
    expect(endOf(pass(parts), figures(), []).total).toBe(total)
  })

  test('the digests of its pages, where each has one', () => {
    expect(endOf(pass(), figures(), ['a', 'b']).digests).toBe('a b')
    expect(endOf(pass(), figures(), ['a', undefined]).digests).toBeNull()
  })
})

describe('what an accepted scan has learnt of its list', () => {
  const state = pass({ usual: 8, limit: 9 })

  test('are the size of its pages and the rows that it hides, beside what was known', () => {
    const parts = { pageSize: 50, pageLimit: 60, hiddenRows: 7 }
    expect(learntOf(state, { hidden: 3 }, job(parts))).toEqual({
      ...{ learnt: { pageSize: 8, pageLimit: 9, hiddenRows: 3 }, before: parts },
    })
    expect(learntOf(state, { hidden: 0 }, job()).before).toEqual({
      pageSize: 200,
      pageLimit: 200,
      hiddenRows: 0,
    })
  })

  test.each([
    [7, 3, 7],
    [3, 7, 7],
  ])(
    'a part of a list that hides %i rows, of which it shows %i as hidden: %i are',
    (hiddenRows, hidden, expected) => {
      expect(learntOf(state, { hidden }, job({ known, hiddenRows })).learnt.hiddenRows).toBe(expected)
    },
  )
})

test.each([
  [3, 3, true],
  [4, 3, false],
  [0, 0, true],
  [0, undefined, false],
])('an empty list that had %i records is believed with --most %s: %s', (rows, most, expected) => {
  expect(isBelieved(rows, most)).toBe(expected)
})
