/** What the figures of a group show about its values. */
import { describe, expect, test } from 'vitest'
import {
  agree,
  missingValues,
  roundedBy,
  shownValues,
  without,
} from '../../../src/crosscheck/explain/fill-search.ts'
import { definitionDefaults } from '../../../src/crosscheck/metrics/definition.ts'

const figures = (
  rawCount: number | null,
  [minDays, medianDays, maxDays]: readonly (number | null)[] = [],
  more: object = {},
) => ({
  ...{
    rawCount,
    excludedOutliers: 0,
    minDays: minDays ?? null,
    medianDays: medianDays ?? null,
    maxDays: maxDays ?? null,
  },
  ...more,
})

test.each([
  ['no group', undefined, []],
  ['none', figures(0), []],
  ['an unknown number', figures(null), []],
  ['one', figures(1, [4, 4, 4]), [4]],
  ['two', figures(2, [4, 5, 6]), [4, 6]],
  ['three', figures(3, [4, 5, 9]), [4, 5, 9]],
  ['four', figures(4, [4, 5, 9]), undefined],
  ['three of which one is left out', figures(3, [4, 5, 9], { excludedOutliers: 1 }), undefined],
  [
    'two of which it is unknown whether one is left out',
    figures(2, [4, 5, 9], { excludedOutliers: null }),
    [4, 9],
  ],
  ['two of which one is not shown', figures(2, [4, 5, null]), [4]],
  ['two of which one is missing', { rawCount: 2, minDays: 4 }, [4]],
])('%s: the figures show %j', (_, theirs, values) => {
  expect(shownValues(theirs)).toEqual(values)
})

test('a figure is rounded by half of its last decimal', () => {
  expect(roundedBy(definitionDefaults)).toBe(1e-6)
  expect(roundedBy({ ...definitionDefaults, daysDecimals: 2 })).toBeCloseTo(0.005001, 12)
  expect(roundedBy({ ...definitionDefaults, daysDecimals: 0 })).toBeCloseTo(0.500001, 12)
})

test.each([
  [[1, 2, 3], [2], 0, [1, 3]],
  [[1, 2, 2], [2], 0, [1, 2]],
  [[1, 2], [2, 2], 0, undefined],
  [[1, 2], [1.5], 0.25, undefined],
  [[1, 2], [1.5], 0.5, [2]],
  [[], [], 0, []],
  [[1], [], 0, [1]],
])('%j without %j, within %d: %j', (...[from, list, tolerance, rest]) => {
  expect(without(from, list, tolerance)).toEqual(rest)
})

describe('values agree with figures', () => {
  const four = figures(4, [1, 2.5, 4], { averageDays: 2.5 })
  test.each([
    ['as many and the same', [4, 1], figures(2, [1, 2.5, 4]), true],
    ['another number', [1], figures(2, [1, 2.5, 4]), false],
    ['none and no number', [], {}, true],
    ['one, and no number', [1], {}, false],
    ['another value', [5, 1], figures(2, [1, 2.5, 4]), false],
    ['many with the same least, greatest and average', [1, 2, 3, 4], four, true],
    ['many with another least', [1.5, 1.5, 3, 4], four, false],
    ['many with another greatest', [1, 2.5, 3, 3.5], four, false],
    ['many with another average', [1, 2, 4, 4], four, false],
    ['many, at the tolerance', [1.125, 1.875, 3, 4], four, true],
    ['many, and no average', [1, 2, 3, 4], figures(4, [1, 2.5, 4]), false],
    ['some of which are left out', [1, 2, 3, 90], figures(4, [1, 2, 3], { excludedOutliers: 1 }), undefined],
    [
      'many, and it is unknown whether some are left out',
      [1, 2, 3, 4],
      { ...four, excludedOutliers: null },
      true,
    ],
    [
      'many, and nobody says whether some are left out',
      [1, 2, 3, 4],
      { ...four, excludedOutliers: undefined as never },
      true,
    ],
  ] as const)('%s', (...[, values, theirs, is]) => {
    expect(agree(values, theirs, 0.125)).toBe(is)
  })
})

describe('the values that only the service has', () => {
  const five = figures(5, [1, 3, 9], { averageDays: 3.8 })
  test.each([
    ['are shown one by one', [4], figures(2, [4, 5, 6]), [6]],
    ['are all of a group that we lack', [], figures(2, [4, 5, 6]), [4, 6]],
    ['are none that are shown', [5], figures(2, [4, 5, 6]), undefined],
    ['are none without a group', [], undefined, []],
    ['follow from the average when one is missing', [1, 2, 3, 4], five, [9]],
    ['do not when two are', [1, 2, 3], five, undefined],
    ['do not when none is', [1, 2, 3, 4, 9], five, undefined],
    ['do not when some are left out', [1, 2, 3, 4], { ...five, excludedOutliers: 1 }, undefined],
    ['do not without an average', [1, 2, 3, 4], { ...five, averageDays: null }, undefined],
  ] as const)('%s', (...[, values, theirs, missing]) => {
    expect(missingValues(values, theirs, 1e-6)?.map(value => Number(value.toFixed(6)))).toEqual(missing)
  })
})
