/** Our groups of a metric beside the service's: which are matched, which differ, which are only on one side. */
import { describe, expect, test } from 'vitest'
import { compare, comparedFigures, differs } from '../../src/crosscheck/compare.ts'
import type { MetricDefinition } from '../../src/crosscheck/metrics/definition.ts'
import type { Names } from '../../src/crosscheck/metrics/group-keys.ts'
import type { MetricAnswer } from '../../src/crosscheck/metrics/their-metrics.ts'

const names: Names = { company: new Map([['c1', 'Acme']]), project: new Map(), agency: new Map() }
const definition = { refKey: 'id', weekKey: 'firstDay', monthKey: 'month' } as unknown as MetricDefinition

const own = (company: string, workers: number) => ({
  ...{ groupBy: 'company', groupKey: company, keys: { company } },
  figures: { workers, averageHours: 50 },
})
const their = (company: string, workers: number) => ({
  ...{ groupBy: 'company', group: { company }, hoursField: undefined },
  figures: { workers, averageHours: 50 },
})
const answer = (groups: MetricAnswer['groups'], isWhole = true): MetricAnswer => ({
  ...{ query: { grouping: ['company'] } as unknown as MetricAnswer['query'], groups, isWhole },
})
const compared = (mine: ReturnType<typeof own>[], theirs: MetricAnswer) =>
  compare(mine, theirs, { definition, names }).map(({ label, ours, theirs: other }) => [
    ...[label, ours?.workers, other?.workers],
  ])

describe('groups', () => {
  test('are matched by their keys, and one that only we have counts when the answer was read whole', () => {
    const mine = [own('c1', 1), own('c2', 2)]
    expect(compared(mine, answer([their('c1', 3)]))).toEqual([
      ['c1', 1, 3],
      ['c2', 2, undefined],
    ])
    expect(compared(mine, answer([their('c1', 3)], false))).toEqual([['c1', 1, 3]])
  })

  test('that only the service has are compared', () => {
    expect(compared([], answer([their('c9', 3)]))).toEqual([['c9', undefined, 3]])
  })

  test('of another grouping are left out', () => {
    expect(compared([{ ...own('c1', 1), groupBy: 'project' }], answer([]))).toEqual([])
  })

  test('with one label are matched in the order of their first figure', () => {
    const twice = [own('c1', 1), own('c1', 5)]
    expect(compared(twice, answer([their('c1', 5), their('c1', 1)]))).toEqual([
      ['c1', 5, 5],
      ['c1#1', 1, 1],
    ])
  })
})

describe('figures', () => {
  const figures = (average: number | null, count = 4) => ({ count, averageDays: average, medianDays: 3 })
  const averages = (ours: number | null, theirs: number | null) =>
    comparedFigures({ ours: figures(ours), theirs: figures(theirs) }, 'timeToFill')

  test('that are both missing are equal, and one that is missing differs', () => {
    expect(averages(null, null).every(({ isEqual }) => isEqual)).toBe(true)
    expect(averages(3, null).some(({ isEqual }) => !isEqual)).toBe(true)
  })

  test('of a group that one side lacks: counts are zero, others are missing', () => {
    const [first] = comparedFigures({ ours: undefined, theirs: figures(null, 0) }, 'timeToFill')
    expect(first).toMatchObject({ ours: 0 })
    expect(differs({ ours: undefined, theirs: figures(3, 4) } as never, 'timeToFill')).toBe(true)
  })
})
