/** How often a record changes, as estimated from its fetches and those of its kind. */
import { describe, expect, test } from 'vitest'
import { type KindSums, priorOf, rateOf } from '../../../src/sync/by-id/change-rate.ts'

/** The sums of records with so many changes in so many days each. */
const sumsOf = (records: readonly (readonly [changes: number, days: number])[]): KindSums => {
  const sum = (of: (changes: number, days: number) => number): number =>
    records.reduce((total, [changes, days]) => total + of(changes, days), 0)
  return {
    records: records.length,
    changes: sum(changes => changes),
    exposure: sum((_, days) => days),
    exposureSquared: sum((_, days) => days * days),
    changesByExposure: sum((changes, days) => changes * days),
    changesSquared: sum(changes => changes * changes),
  }
}
const alike = (records: number) => sumsOf(Array.from({ length: records }, () => [5, 10] as const))

describe('of a kind', () => {
  test.each([
    ['without a fetch', undefined],
    ['whose fetches span no time', sumsOf([[3, 0]])],
    ['with negative time, by wrong clocks', sumsOf([[3, -1]])],
  ])('%s one change a month is expected', (...[, sums]) =>
    expect(priorOf(sums)).toEqual({ changes: 0.5, days: 15 }),
  )

  test('that changed, the mean rate adds half a change in the days of one more record', () => {
    const { changes, days } = priorOf(alike(100))
    expect(changes / days).toBeCloseTo(500.5 / 1011, 12)
    const never = priorOf(sumsOf([[0, 10]]))
    expect(never.changes / never.days).toBeCloseTo(0.5 / 21, 12)
  })

  test('of which no record is known the exposure counts twice', () => {
    const { changes, days } = priorOf({ ...sumsOf([[0, 10]]), records: 0 })
    expect(changes / days).toBeCloseTo(0.5 / 21, 12)
  })

  test('whose records are alike, the weight is the greatest, 20 changes', () => {
    expect(priorOf(alike(100)).changes).toBe(20)
  })

  test('whose records differ by a little more than chance, the weight lies between', () => {
    const sums = sumsOf([
      [2, 10],
      [8, 10],
      [2, 10],
      [8, 10],
    ])
    const mean = 20.5 / 51
    const spread = sums.changesSquared - 2 * mean * sums.changesByExposure + mean ** 2 * sums.exposureSquared
    const expected = (mean ** 2 * sums.exposureSquared) / (spread - mean * sums.exposure)
    expect(expected).toBeGreaterThan(0.5)
    expect(expected).toBeLessThan(20)
    expect(priorOf(sums).changes).toBeCloseTo(expected, 9)
  })

  test('whose records differ wholly, the weight is the least, half a change', () => {
    expect(priorOf(sumsOf([[100, 10], ...Array.from({ length: 30 }, () => [0, 10] as const)])).changes).toBe(
      0.5,
    )
  })
})

test('the rate of a record lies between its own and that of its kind, by their days', () => {
  expect(rateOf({ changes: 3, exposure: 10 }, { changes: 1, days: 30 })).toBeCloseTo(0.1, 12)
  expect(rateOf({ changes: 0, exposure: 0 }, { changes: 0.5, days: 15 })).toBeCloseTo(1 / 30, 12)
})
