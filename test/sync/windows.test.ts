/** Backfill windows share days, cover everything, end, and follow the density of the records. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { daysBetween, utcDay } from '../../src/lib/dates.ts'
import {
  type BackfillExtent,
  firstWindow,
  nextWindow,
  pagesPerWindow,
  type WindowDays,
} from '../../src/sync/scan/windows.ts'

const extents: fc.Arbitrary<BackfillExtent> = fc
  .record({ total: fc.integer({ min: 0, max: 5_000_000 }), age: fc.nat(6000), at: fc.nat(9000) })
  .map(({ total, age, at }) => {
    const today = utcDay('2010-01-01T00:00:00Z', at)
    return { total, today, earliest: utcDay(today, -age) }
  })

/** Pages of a window by its number, drawn apart: the density of records may be anything. */
const densities = fc.array(fc.nat(2000), { minLength: 1, maxLength: 20 })

function chain(extent: BackfillExtent, pages: readonly number[]): WindowDays[] {
  const windows = [firstWindow(extent)]
  for (;;) {
    const previous = windows.at(-1)!
    const held = pages[(windows.length - 1) % pages.length]!
    const next = nextWindow({ ...previous, pages: held }, extent)
    if (!next) return windows
    windows.push(next)
    if (windows.length > 10_000) throw new Error('the windows do not end')
  }
}

const spanOf = ({ from, to }: WindowDays, { today }: BackfillExtent): number =>
  daysBetween(from!, to ?? today)

const holds = (check: (windows: WindowDays[], extent: BackfillExtent, pages: number[]) => void) =>
  fc.assert(fc.property(extents, densities, (extent, pages) => check(chain(extent, pages), extent, pages)))

describe('backfill windows', () => {
  test('begin open at today and end open below the oldest record', () => {
    holds(windows => {
      expect(windows[0]!.to).toBeNull()
      expect(windows.at(-1)!.from).toBeNull()
      expect(windows.slice(0, -1).every(({ from }) => from !== null)).toBe(true)
    })
  })

  test('share two days with their neighbours, so that no day filter loses a record between them', () => {
    holds(windows => {
      for (const [index, window] of windows.slice(1).entries())
        expect(daysBetween(windows[index]!.from!, window.to!)).toBeGreaterThanOrEqual(2)
    })
  })

  test('are at least 28 days long, and grow at most fourfold', () => {
    holds((windows, extent) => {
      for (const [index, window] of windows.entries()) {
        if (window.from === null) continue
        expect(spanOf(window, extent)).toBeGreaterThanOrEqual(28)
        if (index > 0)
          expect(spanOf(window, extent)).toBeLessThanOrEqual(4 * spanOf(windows[index - 1]!, extent))
      }
    })
  })

  test('never reach further than the oldest record needs', () => {
    holds((windows, extent) => {
      for (const { from } of windows) if (from !== null) expect(from > extent.earliest).toBe(true)
    })
  })

  test('shrink where a window held too many pages, and grow where it held few', () => {
    const extent = { total: 10_000_000, earliest: '2000-01-01', today: '2026-01-01' }
    const previous = { from: '2025-01-01', to: '2025-04-11' }
    const spanAfter = (pages: number) => spanOf(nextWindow({ ...previous, pages }, extent)!, extent)
    expect([100, 50, 25, 1, 5000].map(spanAfter)).toEqual([50, 100, 200, 400, 28])
  })

  test('are one when the collection is small', () => {
    const extent = { earliest: '2000-01-01', today: '2026-01-01' }
    expect(firstWindow({ ...extent, total: pagesPerWindow * 200 })).toEqual({ from: null, to: null })
    expect(firstWindow({ ...extent, total: pagesPerWindow * 200 + 1 }).from).not.toBeNull()
  })
})
