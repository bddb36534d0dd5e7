/** Our groups of a metric beside the service's: which are matched, which differ, which are only on one side. */
import { describe, expect, test } from 'vitest'
import { compare, comparedFigures, differs, keysIn } from '../../src/crosscheck/compare.ts'
import type { MetricDefinition } from '../../src/crosscheck/metrics/definition.ts'
import type { PartyNames } from '../../src/crosscheck/metrics/group-keys.ts'
import type { MetricAnswer } from '../../src/crosscheck/metrics/their-metrics.ts'

const names: PartyNames = { company: new Map([['c1', 'Acme']]), project: new Map(), agency: new Map() }
const definition = { refKey: 'id', weekKey: 'firstDay', monthKey: 'month' } as unknown as MetricDefinition

const own = (company: string, workerWeeks: number) => ({
  ...{ groupBy: 'company', groupKey: company, keys: { company } },
  figures: { workerWeeks, averageHours: 50 },
})
const their = (company: string, workerWeeks: number) => ({
  ...{ groupBy: 'company', group: { company }, hoursField: undefined },
  figures: { workerWeeks, averageHours: 50 },
})
const answer = (groups: MetricAnswer['groups'], isComplete = true): MetricAnswer => ({
  ...{ query: { grouping: ['company'] } as unknown as MetricAnswer['query'], groups, isComplete },
})
const compared = (mine: ReturnType<typeof own>[], theirs: MetricAnswer) =>
  compare(mine, theirs, { definition, names }).map(({ label, ours, theirs: other }) => [
    ...[label, ours?.workerWeeks, other?.workerWeeks],
  ])

describe('groups', () => {
  test('are matched by their keys, and one that only we have counts when the answer was read completely', () => {
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

  test('that only we have keep our keys and are written as the service would', () => {
    const [found] = compare([own('c1', 1)], answer([]), { definition, names })
    expect(found).toEqual({
      ...{ groupBy: 'company', label: 'c1', keys: { company: 'c1' }, group: { company: 'c1' } },
      ...{ ours: { workerWeeks: 1, averageHours: 50 }, theirs: undefined },
    })
  })

  test('on both sides have our keys and the group of the service', () => {
    const [found] = compare([own('c1', 1)], answer([their('c1', 3)]), { definition, names })
    expect(found).toMatchObject({ groupBy: 'company', keys: { company: 'c1' }, group: { company: 'c1' } })
    const [only] = compare([], answer([their('c1', 3)]), { definition, names })
    expect([only?.keys, only && keysIn(only, { definition, names })]).toEqual([undefined, { company: 'c1' }])
    expect(keysIn({ keys: { company: 'c7' }, group: { company: 'c1' } }, { definition, names })).toEqual({
      company: 'c7',
    })
  })

  test('are written in the shape of the definition, so that they are matched by name', () => {
    const byName = { definition: { ...definition, refKey: 'name' } as MetricDefinition, names }
    expect(compare([own('c1', 1)], answer([their('Acme', 1)]), byName)).toHaveLength(1)
  })

  test('of another grouping are left out', () => {
    expect(compared([{ ...own('c1', 1), groupBy: 'project' }], answer([]))).toEqual([])
  })

  test('with one label are matched in the order of their sizes', () => {
    const twice = [own('c1', 1), own('c1', 5)]
    expect(compared(twice, answer([their('c1', 1), their('c1', 5)]))).toEqual([
      ['c1', 5, 5],
      ['c1#1', 1, 1],
    ])
    const thrice = [...twice, own('c1', 3)]
    expect(compared(thrice, answer([]))).toEqual([
      ['c1', 5, undefined],
      ['c1#1', 3, undefined],
      ['c1#2', 1, undefined],
    ])
  })

  test('with one label of which a size is unknown come after those that have some', () => {
    const unknown = { ...own('c1', 0), figures: { workerWeeks: null } }
    const none = { ...own('c1', 0), figures: {} }
    expect(
      compared([unknown, none, own('c1', -1), own('c1', 1)] as ReturnType<typeof own>[], answer([])),
    ).toEqual([
      ['c1', 1, undefined],
      ['c1#1', null, undefined],
      ['c1#2', undefined, undefined],
      ['c1#3', -1, undefined],
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

  test.each([
    [3, 3.01, true],
    [3, 3.0101, false],
    [3.01, 3, true],
    [3.0101, 3, false],
  ])('days of %d and %d are equal: %s', (ours, theirs, is) => {
    const found = averages(ours, theirs).find(({ figure }) => figure === 'averageDays')
    expect(found).toMatchObject({ ours, theirs, isEqual: is })
    expect(found?.difference).toBeCloseTo(ours - theirs, 9)
  })

  test('that are counts are equal exactly', () => {
    const found = comparedFigures({ ours: figures(3, 4), theirs: figures(3, 5) }, 'timeToFill')
    const unequal = found.filter(({ isEqual }) => !isEqual)
    expect(unequal).toEqual([{ figure: 'count', ours: 4, theirs: 5, difference: -1, isEqual: false }])
    expect(found).toHaveLength(11)
  })

  test('that are missing have no difference', () => {
    const found = averages(null, 3).find(({ figure }) => figure === 'averageDays')
    expect(found).toEqual({ figure: 'averageDays', ours: null, theirs: 3, difference: null, isEqual: false })
    expect(averages(3, null).find(({ figure }) => figure === 'averageDays')).toMatchObject({
      difference: null,
    })
  })

  test('differ when one of them does', () => {
    const of = (count: number) => ({ ours: figures(3, 4), theirs: figures(3, count) }) as never
    expect([differs(of(4), 'timeToFill'), differs(of(5), 'timeToFill')]).toEqual([false, true])
  })

  test('of a group that the service does not have: counts are zero there, others are missing', () => {
    const found = comparedFigures({ ours: figures(3), theirs: undefined }, 'timeToFill')
    expect(found.find(({ figure }) => figure === 'count')).toMatchObject({
      ours: 4,
      theirs: 0,
      difference: 4,
    })
    expect(found.find(({ figure }) => figure === 'averageDays')).toMatchObject({ theirs: null })
  })

  test('of a group that is missing on one side: counts are zero, others are missing', () => {
    const [first] = comparedFigures({ ours: undefined, theirs: figures(null, 0) }, 'timeToFill')
    expect(first).toMatchObject({ ours: 0 })
    expect(differs({ ours: undefined, theirs: figures(3, 4) } as never, 'timeToFill')).toBe(true)
  })
})
