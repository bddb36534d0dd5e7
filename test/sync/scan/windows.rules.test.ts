/** The windows of a backfill, the days around those that are read again, and how far back a scan of changes reads. */
import { describe, expect, test } from 'vitest'
import type { WatermarkRow } from '../../../src/state/scans/tables.ts'
import { isOpen } from '../../../src/sync/scan/backfill.ts'
import { knownBelow } from '../../../src/sync/scan/collection.ts'
import { pageSizeOf, pagingOf } from '../../../src/sync/scan/collection-window.ts'
import { spansOver } from '../../../src/sync/scan/reread-days.ts'
import { firstWindow, nextWindow } from '../../../src/sync/scan/windows.ts'
import { at, ms } from '../paging/lists.ts'

const extent = { total: 40_000, earliest: '2024-01-01', today: '2026-01-01' }

describe('the first window', () => {
  test.each([
    ['is the whole list of 50 pages', { total: 10_000 }, null],
    ['has as many days as make 50 pages', { total: 40_000 }, '2025-07-03'],
    ['has at least 28 days', { total: 4_000_000 }, '2025-12-04'],
    ['rounds days down', { total: 40_001 }, '2025-07-04'],
    ['is open where it reaches the oldest record', { total: 10_001, earliest: '2025-12-20' }, null],
    [
      'is open where it begins on the day of the oldest record',
      { total: 4_000_000, earliest: '2025-12-04' },
      null,
    ],
    ['is not where it begins a day later', { total: 4_000_000, earliest: '2025-12-03' }, '2025-12-04'],
    ['of a list of one day has 28 days', { total: 40_000, earliest: '2026-01-01' }, null],
  ])('%s', (...[, parts, from]) => {
    expect(firstWindow({ ...extent, ...parts })).toEqual({ from, to: null })
  })
})

describe('the next window', () => {
  const previous = { from: '2025-11-01', to: '2026-01-01', pages: 50 }

  test('is missing after one that reached the oldest record', () => {
    expect(nextWindow({ ...previous, from: null }, extent)).toBeUndefined()
  })

  test.each([
    ['has as many days as the previous one with 50 pages', {}, '2025-09-03'],
    ['has twice as many where that had 25', { pages: 25 }, '2025-07-04'],
    ['has half as many where that had 100', { pages: 100 }, '2025-10-04'],
    ['has at least 28 days', { pages: 1000 }, '2025-10-06'],
    ['has at most four times as many', { pages: 1 }, '2025-03-04'],
    ['has at most four times as many where that was empty', { pages: 0 }, '2025-03-04'],
    ['counts the days of an open one up to today', { to: null }, '2025-09-03'],
  ])('%s, and shares two', (...[, parts, from]) => {
    expect(nextWindow({ ...previous, ...parts }, extent)).toEqual({ from, to: '2025-11-03' })
  })

  test('is open where it reaches the oldest record', () => {
    expect(nextWindow(previous, { ...extent, earliest: '2025-09-03' })?.from).toBeNull()
    expect(nextWindow(previous, { ...extent, earliest: '2025-09-02' })?.from).toBe('2025-09-03')
  })
})

describe('a window is read', () => {
  test.each([
    ['when it was cut off in this run', 'scanning', 'this', true],
    ['when it was cut off in an earlier run', 'scanning', 'earlier', true],
    ['when an earlier run refused it', 'refused', 'earlier', true],
    ['not when this run refused it', 'refused', 'this', false],
    ['not when it is accepted', 'accepted', 'earlier', false],
  ] as const)('%s', (...[, state, run_id, expected]) =>
    expect(isOpen({ state, run_id }, 'this')).toBe(expected),
  )
})

describe('what is known of a watermark', () => {
  const known = (begun: string | undefined, seen: string | undefined = at(0)) =>
    knownBelow({ watermark: at(30), lookbackMs: 10 * 60_000, seen, begun })

  test('is everything up to the end of its millisecond, once a scan began two lookbacks after it was seen', () => {
    expect(known(new Date(ms(20) + 1).toISOString())).toEqual({ before: ms(30) + 1, reached: ms(30) })
  })

  test.each([
    ['a scan that began right then', at(20)],
    ['no scan', undefined],
  ])('is everything before the lookback after %s', (_, begun) => {
    expect(known(begun)).toEqual({ before: ms(20), reached: ms(30) })
  })

  test('is everything before the lookback where it was not seen', () => {
    expect(knownBelow({ watermark: at(30), lookbackMs: 0, seen: undefined, begun: at(59) }).before).toBe(
      ms(30),
    )
  })
})

describe('scattered days', () => {
  test.each([
    ['14 days apart share a span', ['2026-01-15', '2026-01-01'], [['2026-01-01', '2026-01-15']]],
    [
      '15 days apart do not',
      ['2026-01-01', '2026-01-16'],
      [
        ['2026-01-01', '2026-01-01'],
        ['2026-01-16', '2026-01-16'],
      ],
    ],
    ['that repeat count once', ['2026-01-01', '2026-01-01'], [['2026-01-01', '2026-01-01']]],
    ['in a row make one span', ['2026-01-01', '2026-01-10', '2026-01-20'], [['2026-01-01', '2026-01-20']]],
    ['of none make no span', [], []],
  ])('%s', (...[, days, spans]) => {
    expect(spansOver(days)).toEqual(spans.map(([from, to]) => ({ from, to })))
  })

  const apart = (count: number): string[] =>
    Array.from({ length: count }, (_, index) =>
      new Date(Date.UTC(2026, 0, 1 + 15 * index)).toISOString().slice(0, 10),
    )

  test('make at most 12 spans', () => {
    expect(spansOver(apart(12))).toHaveLength(12)
    expect(spansOver(apart(13))).toEqual([{ from: apart(13)[0], to: apart(13)[12] }])
  })

  test('are brought closer by twice the distance until they are few enough', () => {
    const days = ['2026-01-01', '2026-01-03', '2026-01-20', '2026-01-24']
    expect(spansOver(days, 1, 2)).toEqual([
      { from: days[0], to: days[1] },
      { from: days[2], to: days[3] },
    ])
    expect(spansOver(days, 1, 3)).toHaveLength(3)
  })
})

describe('what earlier scans have learnt of a list', () => {
  const row = { page_size: null, hidden_rows: null } as WatermarkRow

  test('is nothing where its row says nothing', () => {
    expect(pagingOf(row)).toEqual({})
    expect(pageSizeOf(row)).toBe(200)
  })

  test.each([
    [{ page_size: 50 }, { pageSize: 50 }],
    [{ hidden_rows: 2 }, { hiddenRows: 2 }],
    [
      {
        page_size: '50' as unknown as number,
        hidden_rows: '3' as unknown as number,
      },
      { pageSize: 50, hiddenRows: 3 },
    ],
  ])('%j is %j', (parts, expected) => expect(pagingOf({ ...row, ...parts })).toEqual(expected))

  test.each([
    [null, undefined],
    [2, 5],
    [7, 7],
  ])('beside %j hidden rows, and an operator who knows of 5: %j', (hidden_rows, expected) => {
    expect(pagingOf({ ...row, hidden_rows }, hidden_rows === null ? 0 : 5).hiddenRows).toBe(expected)
  })

  test('is the size of its pages', () => {
    expect(pageSizeOf({ ...row, page_size: 50 })).toBe(50)
  })
})
