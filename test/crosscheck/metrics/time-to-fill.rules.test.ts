/** Time to fill in SQL, by cases small enough to work out by hand. */
import { beforeAll, describe, expect, test } from 'vitest'
import { definitionDefaults, type MetricDefinition } from '../../../src/crosscheck/metrics/definition.ts'
import { type Grouping, groupingOf, type MetricQuery } from '../../../src/crosscheck/metrics/metric-query.ts'
import { measuring, type OurGroup, ourMetrics } from '../../../src/crosscheck/metrics/our-metrics.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { fillCases, keepsAll, requisition } from '../fill-cases.ts'

const warehouse = rulesWarehouse()
const records = [
  ...new Set(fillCases.map(({ record }) => record)),
  requisition('outlier', [1, 2, 3, 4, 30]),
  requisition('upper', [1, 2, 3, 4, 7]),
  requisition('above', [1, 2, 3, 4, 7.001]),
  requisition('lower', [-1, 2, 3, 4, 5]),
  requisition('below', [-1.001, 2, 3, 4, 5]),
  requisition('equal', [2, 2, 2, 2]),
  requisition('single', [5]),
  requisition('two', [1, 5]),
  requisition('least3', [1, 2, 30]),
  requisition('least4', [1, 2, 3, 30]),
  requisition('ten', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
  requisition('thirds', [-1, -0.5, 1]),
  requisition('together', [3, 3]),
  requisition('deleted', [3]),
  requisition('withdrawn', [3, 4]),
  // Saturday, 31 January, and Sunday, of one week.
  ...[30, 31].map(day => requisition(`turn${day}`, [day], { project: { id: 'turn', name: 'Turn' } })),
]

beforeAll(async () => {
  await warehouse.load(resourceOf('requisitions'), records)
  await warehouse.engine.run(
    `update star.fact_requisition set is_deleted = true where requisition_id = 'deleted'`,
  )
  await warehouse.engine.run(
    `update star.fact_requisition_agency set is_deleted = true where requisition_id = 'withdrawn' and agency_id = 'a0'`,
  )
})

const by = (text: string) => groupingOf(text) as Grouping
const define = (parts: Partial<MetricDefinition>): MetricDefinition => ({ ...definitionDefaults, ...parts })
const figuresBy = (groups: readonly OurGroup[] = []) =>
  Object.fromEntries(groups.map(group => [group.groupKey, group.figures]))
const ask = async (query: Partial<MetricQuery> = {}, parts: Partial<MetricDefinition> = {}) =>
  ourMetrics(warehouse.engine, { metric: 'timeToFill', groupings: [by('project')], ...query }, define(parts))
/** Under each of some definitions, in one statement. */
const groupsUnder = async (
  definitions: readonly Partial<MetricDefinition>[],
  query: Partial<MetricQuery> = {},
): Promise<OurGroup[][]> =>
  measuring(warehouse.engine)(
    { metric: 'timeToFill', groupings: [by('project')], ...query },
    definitions.map(define),
  )
const under = async (definitions: readonly Partial<MetricDefinition>[]) =>
  (await groupsUnder(definitions)).map(figuresBy)

const middle = (list: readonly number[]) =>
  list[(list.length - 1) / 2] ?? ((list[0] ?? 0) + (list[1] ?? 0)) / 2

test('each acceptance counts as its rule says', async () => {
  const found = await under(fillCases.map(({ under: parts }) => keepsAll(parts)))
  const shown = fillCases.map(({ rule, record }, index) => [rule, found[index]?.[record.id]])
  const expected = fillCases.map(({ rule, days }) => [
    rule,
    days.length === 0
      ? undefined
      : expect.objectContaining({
          ...{ rawCount: days.length, count: days.length, excludedOutliers: 0, lower: null, upper: null },
          ...{ minDays: days[0], maxDays: days.at(-1), medianDays: middle(days) },
        }),
  ])
  expect(shown).toEqual(expected)
})

test('a week that lies in two months has its days in each', async () => {
  const groups = await ask({ groupings: [by('month'), by('week')], project: 'turn' })
  expect(groups.map(({ groupKey, figures }) => [groupKey, figures.rawCount]).sort()).toEqual([
    ['2026-01', 1],
    ['2026-01-26', 2],
    ['2026-02', 1],
  ])
})

describe('the outlier rule', () => {
  test('keeps what is within 1.5 times the range of the quartiles, and describes what is kept', async () => {
    const { outlier, equal, single } = figuresBy(await ask())
    // Q1 = 2 and Q3 = 4 of 1, 2, 3, 4, 30: bounds -1 and 7; the rest is of 1, 2, 3, 4.
    expect(outlier).toEqual({
      ...{ rawCount: 5, excludedOutliers: 1, lower: -1, upper: 7, count: 4 },
      ...{ averageDays: 2.5, medianDays: 2.5, minDays: 1, maxDays: 4, p25Days: 1.75, p75Days: 3.25 },
    })
    const each = (value: number) => ({
      ...{ averageDays: value, medianDays: value, minDays: value, maxDays: value },
      ...{ p25Days: value, p75Days: value, lower: value, upper: value },
    })
    expect(equal).toEqual({ rawCount: 4, excludedOutliers: 0, count: 4, ...each(2) })
    expect(single).toEqual({ rawCount: 1, excludedOutliers: 0, count: 1, ...each(5) })
  })

  // Q1 = 2 and Q3 = 4 in each, so the bounds are -1 and 7.
  test('keeps a value exactly on a bound when bounds are inclusive, and none beyond it', async () => {
    const found = await under([{ bounds: 'inclusive' }, { bounds: 'exclusive' }])
    const shown = (project: string) =>
      found.map(groups => {
        const { lower, upper, count, excludedOutliers, minDays, maxDays } = groups[project] ?? {}
        return { lower, upper, count, excludedOutliers, minDays, maxDays }
      })
    const bounds = { lower: -1, upper: 7 }
    const of = (count: number, [minDays, maxDays]: readonly [number, number]) => ({
      ...{ ...bounds, count, excludedOutliers: 5 - count, minDays, maxDays },
    })
    expect(shown('upper')).toEqual([of(5, [1, 7]), of(4, [1, 4])])
    expect(shown('above')).toEqual([of(4, [1, 4]), of(4, [1, 4])])
    expect(shown('lower')).toEqual([of(5, [-1, 5]), of(4, [2, 5])])
    expect(shown('below')).toEqual([of(4, [2, 5]), of(4, [2, 5])])
  })

  test('the quartiles that are shown are those of what is kept below and above', async () => {
    const { below } = figuresBy(await ask())
    // Of 2, 3, 4, 5.
    expect(below).toMatchObject({ p25Days: 2.75, medianDays: 3.5, p75Days: 4.25, averageDays: 3.5 })
  })

  test('keeps nothing of equal values when bounds are exclusive', async () => {
    const { equal } = figuresBy(await ask({}, { bounds: 'exclusive' }))
    expect(equal).toEqual({
      ...{ rawCount: 4, excludedOutliers: 4, count: 0, lower: 2, upper: 2 },
      ...{ averageDays: null, medianDays: null, minDays: null, maxDays: null, p25Days: null, p75Days: null },
    })
  })

  test('applies to groups of the least size and larger ones', async () => {
    const [four, three] = await under([{ minForRule: 4 }, { minForRule: 3 }])
    expect(four?.least3).toMatchObject({ lower: null, upper: null, excludedOutliers: 0, maxDays: 30 })
    // Of 1, 2, 3, 30: Q1 = 1.75 and Q3 = 9.75.
    expect(four?.least4).toMatchObject({ lower: -10.25, upper: 21.75, excludedOutliers: 1, maxDays: 3 })
    // Of 1, 2, 30: Q1 = 1.5 and Q3 = 16.
    expect(three?.least3).toMatchObject({ lower: -20.25, upper: 37.75, excludedOutliers: 0, maxDays: 30 })
  })
})

test('quantiles of 1 to 10, of 1 and 5, and of one value by each method', async () => {
  const methods = [
    ['type7', [3.25, 5.5, 7.75], [2, 3, 4]],
    ['type6', [2.75, 5.5, 8.25], [1, 3, 5]],
    ['type5', [3, 5.5, 8], [1, 3, 5]],
    ['type8', [2 + 11 / 12, 5.5, 8 + 1 / 12], [1, 3, 5]],
    ['type2', [3, 5.5, 8], [1, 3, 5]],
    ['nearestRank', [3, 5, 8], [1, 1, 5]],
    ['floorIndex', [3, 6, 8], [1, 5, 5]],
  ] as const
  const found = await under(methods.map(([method]) => ({ quantiles: method, valueQuantiles: method })))
  for (const [index, [method, ten, two]] of methods.entries()) {
    const reach = 1.5 * (ten[2] - ten[0])
    const shown = (figures: OurGroup['figures'] = {}) =>
      [figures.p25Days, figures.medianDays, figures.p75Days].map(value => Number((value ?? NaN).toFixed(9)))
    const exact = (values: readonly number[]) => values.map(value => Number(value.toFixed(9)))
    const { ten: tenth, two: second, single } = found[index] ?? {}
    expect([method, shown(tenth)]).toEqual([method, exact(ten)])
    expect([method, shown(second)]).toEqual([method, exact(two)])
    expect([method, shown(single)]).toEqual([method, [5, 5, 5]])
    expect(tenth?.lower).toBeCloseTo(ten[0] - reach, 9)
    expect(tenth?.upper).toBeCloseTo(ten[2] + reach, 9)
  }
})

test('the quantiles behind the bounds and those that are shown may have two methods', async () => {
  const { ten } = figuresBy(await ask({}, { quantiles: 'type6', valueQuantiles: 'nearestRank' }))
  expect(ten).toMatchObject({ lower: 2.75 - 8.25, upper: 8.25 + 8.25, p25Days: 3, medianDays: 5, p75Days: 8 })
})

test('figures are rounded to the decimals that are kept, half up', async () => {
  const [none, two, zero] = await under([
    { daysDecimals: null },
    { daysDecimals: 2 },
    { daysDecimals: 0, days: 'fractional' },
  ])
  expect(none?.thirds?.averageDays).toBeCloseTo(-1 / 6, 12)
  // Q1 = -0.75 and Q3 = 0.25.
  expect(two?.thirds).toMatchObject({ averageDays: -0.17, lower: -2.25, upper: 1.75, minDays: -1 })
  expect(zero?.outlier).toMatchObject({ averageDays: 3, medianDays: 3, p25Days: 2, p75Days: 3, lower: -1 })
  expect(zero?.thirds).toMatchObject({ averageDays: 0, medianDays: 0, lower: -2, upper: 2, maxDays: 1 })
})

test('of two acceptances at one time the first and the last are by the order of the agencies', async () => {
  const agency = async (acceptance: MetricDefinition['acceptance']) =>
    (await ask({ groupings: [by('agency')], project: 'together' }, { acceptance })).map(({ keys }) => keys)
  expect(await agency('earliest')).toEqual([{ agency: 'a0' }])
  expect(await agency('latest')).toEqual([{ agency: 'a1' }])
})

test('deleted requisitions and agencies that were taken off one do not count', async () => {
  const { deleted, withdrawn } = figuresBy(await ask())
  expect(deleted).toBeUndefined()
  expect(withdrawn).toMatchObject({ rawCount: 1, minDays: 4 })
})

describe('groups', () => {
  test('have the keys that were asked for, with bars between', async () => {
    const groupings = ['all', 'company,month', 'project,agency,week'].map(by)
    const found = await ask({ groupings, project: 'two' })
    expect(found.map(({ groupBy, groupKey, keys }) => [groupBy, groupKey, keys]).sort()).toEqual([
      ['all', '', {}],
      ['company,month', 'c1|2026-01', { company: 'c1', month: '2026-01' }],
      ['project,agency,week', 'two|a0|2025-12-29', { project: 'two', agency: 'a0', week: '2025-12-29' }],
      ['project,agency,week', 'two|a1|2026-01-05', { project: 'two', agency: 'a1', week: '2026-01-05' }],
    ])
  })

  const keysUnder = async (
    text: string,
    definitions: readonly Partial<MetricDefinition>[],
    project: string,
  ) =>
    (await groupsUnder(definitions, { groupings: [by(text)], project })).map(groups =>
      groups.map(({ groupKey, figures }) => `${groupKey} ${figures.rawCount}`).sort(),
    )

  test('of months begin in the zone', async () => {
    const zones = ['UTC', 'Asia/Tokyo', '-23:00'].map(zone => ({ zone }))
    expect(await keysUnder('month', zones, 'summer')).toEqual([['2026-07 1'], ['2026-07 1'], ['2026-06 1']])
    expect(await keysUnder('month', zones, 'overseas')).toEqual([['2026-07 1'], ['2026-07 1'], ['2026-06 1']])
  })

  test('of weeks have seven days, from Monday, Sunday or Saturday', async () => {
    const starts = (['monday', 'sunday', 'saturday'] as const).map(weekStart => ({ weekStart }))
    // Of 2 to 11 January 2026, Friday to Sunday.
    expect(await keysUnder('week', starts, 'ten')).toEqual([
      ['2025-12-29 3', '2026-01-05 7'],
      ['2025-12-28 2', '2026-01-04 7', '2026-01-11 1'],
      ['2025-12-27 1', '2026-01-03 7', '2026-01-10 2'],
    ])
  })

  test('all are over everything, and one of a company or an agency is over its own', async () => {
    const count = async (query: Partial<MetricQuery>) =>
      (await ask({ groupings: [[]], ...query }))[0]?.figures.rawCount
    expect(await count({ project: 'two', company: 'c1' })).toBe(2)
    expect(await count({ project: 'two', agency: 'a1' })).toBe(1)
    expect(await count({ project: 'two', company: 'c2' })).toBeUndefined()
    expect(await count({ project: "it's" })).toBeUndefined()
  })
})

describe('a range', () => {
  // Accepted at midnight of 2 to 11 January.
  test.each([
    [
      { from: '2026-01-04' },
      [
        [{}, 8],
        [{ from: 'exclusive' }, 7],
        [{ zone: 'Asia/Tokyo' }, 8],
        [{ zone: '-01:00' }, 7],
      ],
    ],
    [
      { to: '2026-01-04' },
      [
        [{}, 3],
        [{ to: 'midnight' }, 3],
        [{ to: 'exclusive' }, 2],
        [{ zone: '-00:01' }, 4],
      ],
    ],
    [
      { to: '2026-01-04' },
      [
        [{ zone: '+00:01' }, 3],
        [{ zone: '+00:01', to: 'midnight' }, 2],
      ],
    ],
    [{ from: '2026-01-03', to: '2026-01-04' }, [[{}, 2]]],
    [{ from: '2020-01-01', to: '2020-12-31' }, [[{}, 0]]],
  ] as const)('%o of ten acceptances has %j', async (range, counts) => {
    const query = { groupings: [[]], project: 'ten', ...range }
    const found = await groupsUnder(
      counts.map(([parts]) => parts),
      query,
    )
    expect(found.map(groups => groups[0]?.figures.rawCount ?? 0)).toEqual(counts.map(([, count]) => count))
    for (const { groupBy } of found.flat()) expect(groupBy).toBe('all')
  })
})
