/** Names of groupings, and how far equal figures may be apart. */
import { expect, test } from 'vitest'
import {
  defaultThreshold,
  figureNames,
  groupingName,
  groupingOf,
  tolerance,
} from '../../../src/crosscheck/metrics/metric-query.ts'

test.each([
  [[], 'all'],
  [['week'], 'week'],
  [['week', 'company', 'agency'], 'company,agency,week'],
] as const)('the grouping by %j is named %s', (keys, name) => {
  expect(groupingName(keys)).toBe(name)
})

test.each([
  ['all', []],
  ['', undefined],
  ['week,project', ['project', 'week']],
  ['all,month', ['month']],
  ['month,all', ['month']],
  ['year', undefined],
  ['month,year', undefined],
] as const)('the words "%s" are the keys %j', (text, keys) => {
  expect(groupingOf(text)).toEqual(keys)
})

test('a week is over hours from 48 by default', () => {
  expect(defaultThreshold).toBe(48)
})

test('counts agree exactly, days and hours and bounds to a hundredth', () => {
  const exact = [...figureNames.timeToFill, ...figureNames.workersOverHours].filter(
    name => tolerance(name) === 0,
  )
  expect(exact).toEqual([
    ...['rawCount', 'excludedOutliers', 'count'],
    ...['workerWeeks', 'workersOverThreshold', 'distinctWorkersOverThreshold'],
  ])
  for (const name of ['averageDays', 'totalHours', 'lower', 'upper']) expect(tolerance(name)).toBe(0.01)
  for (const name of ['averageDaysOf', 'HoursIn', 'lowered', 'flower', 'uppermost', 'supper'])
    expect(tolerance(name)).toBe(0)
})
