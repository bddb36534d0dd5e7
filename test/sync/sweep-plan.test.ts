/** What a sweep costs, and which days are scanned again for what it saw. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { daysBetween, utcDay } from '../../src/lib/dates.ts'
import { sweepEstimate } from '../../src/sync/plan/plan-sweep.ts'
import { spansOver } from '../../src/sync/scan/reread-days.ts'

test('a sweep costs a request a page, the scope of the key, and a window more for each window', () => {
  expect(sweepEstimate(150, 0, false)).toMatchObject({ low: 3 })
  expect(sweepEstimate(1000, 0, false)).toMatchObject({ low: 6 })
  expect(sweepEstimate(1000, 4, false)).toMatchObject({ low: 6 })
  expect(sweepEstimate(1000, 4, true)).toMatchObject({ low: 12 })
  expect(sweepEstimate(100_000, 0, false)).toMatchObject({ low: 512 })
})

test('spans hold every day, apart from each other, and are few', () => {
  const day = fc.integer({ min: 0, max: 4000 }).map(n => utcDay(Date.UTC(2016, 0, 1), n))
  fc.assert(
    fc.property(fc.array(day, { minLength: 1, maxLength: 80 }), days => {
      const spans = spansOver(days)
      expect(spans.length).toBeLessThanOrEqual(12)
      for (const one of days) expect(spans.filter(({ from, to }) => from <= one && one <= to)).toHaveLength(1)
      for (const [index, { from }] of spans.entries()) {
        const before = spans[index - 1]
        if (before) expect(daysBetween(before.to, from)).toBeGreaterThan(14)
      }
    }),
  )
})
