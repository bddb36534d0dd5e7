/** Workers over hours in SQL, by cases small enough to work out by hand. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { MetricDefinition } from '../../../src/crosscheck/metrics/definition.ts'
import { type Grouping, groupingOf, type MetricQuery } from '../../../src/crosscheck/metrics/metric-query.ts'
import { measuring, type OurGroup } from '../../../src/crosscheck/metrics/our-metrics.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { define, hoursCases, sheet } from '../hours-cases.ts'

const warehouse = rulesWarehouse()
const on = (project: string, more: object) => ({ project: { id: project, name: project }, ...more })
const ending = (day: string) => ({ weekEnding: `${day}T00:00:00.000Z` })
const of = (worker: string, netHours: number) => ({ worker: { id: worker, name: worker }, netHours })

/** Two sheets of one week are one week of 50 hours; the next week has exactly 48, and the one after it 47.99. */
const weeks = [
  sheet('t1', on('weeks', { ...of('w1', 30), ...ending('2026-01-11') })),
  sheet(
    't2',
    on('weeks', { ...of('w1', 20), ...ending('2026-01-11'), agency: { id: 'a2', name: 'Second' } }),
  ),
  sheet('t3', on('weeks', { ...of('w1', 48), ...ending('2026-01-18') })),
  sheet('t4', on('weeks', { ...of('w2', 47.99), ...ending('2026-01-18') })),
  sheet('t5', on('weeks', { ...of('w1', 48.01), ...ending('2026-01-25') })),
]

/** Sunday to Monday, a week later. */
const days = ['2026-03-01', '2026-03-02', '2026-03-07', '2026-03-08', '2026-03-09'].map((day, index) =>
  sheet(`d${index}`, on('days', { ...of(`v${index}`, 10 + index), ...ending(day) })),
)

/** One worker at companies that end weeks on Saturday, Sunday and Monday. */
const ends = [
  ['2026-02-28', 30],
  ['2026-03-01', 25],
  ['2026-03-02', 20],
].map(([day, hours], index) =>
  sheet(`e${index}`, on('ends', { ...of('y1', Number(hours)), ...ending(String(day)) })),
)

const odd = [
  sheet('o1', on('odd', { ...of('x1', 10.005), ...ending('2026-02-01') })),
  sheet('o2', on('odd', { ...of('x2', 10), ...ending('2026-02-01') })),
  sheet('o3', on('odd', { ...of('x3', 10.01), ...ending('2026-02-01') })),
]

beforeAll(async () => {
  const records = [...new Set(hoursCases.map(({ record }) => record)), ...weeks, ...days, ...ends, ...odd]
  await warehouse.load(resourceOf('timesheets'), [
    ...records,
    sheet('gone'),
    sheet('unlogged', { timelogs: [{ id: 'u1', day: '2026-05-08T00:00:00.000Z', hours: { total: 5 } }] }),
  ])
  await warehouse.engine.run(`update star.fact_timesheet set is_deleted = true where timesheet_id = 'gone'`)
  await warehouse.engine.run(`update star.fact_timelog set is_deleted = true where timesheet_id = 'unlogged'`)
})

const by = (text: string) => groupingOf(text) as Grouping

/** Under each of some definitions, in one statement. */
const groupsUnder = (
  definitions: readonly Partial<MetricDefinition>[],
  query: Partial<MetricQuery> = {},
): Promise<OurGroup[][]> =>
  measuring(warehouse.engine)(
    { metric: 'workersOverHours', groupings: [by('project')], ...query },
    definitions.map(define),
  )
const figuresBy = (groups: readonly OurGroup[] = []) =>
  Object.fromEntries(groups.map(group => [group.groupKey, group.figures]))
const of1 = async (query: Partial<MetricQuery>, parts: Partial<MetricDefinition> = {}) =>
  figuresBy((await groupsUnder([parts], query))[0])

test('each timesheet counts as its rule says', async () => {
  const found = (await groupsUnder(hoursCases.map(({ under }) => under))).map(figuresBy)
  const shown = hoursCases.map(({ rule, record }, index) => [rule, found[index]?.[record.id]?.totalHours])
  expect(shown).toEqual(hoursCases.map(({ rule, hours }) => [rule, hours]))
})

test('deleted timesheets and timelogs do not count', async () => {
  const found = await of1({}, { hoursField: 'timelogHours' })
  expect(found.gone).toBeUndefined()
  expect(found.unlogged).toMatchObject({ workerWeeks: 1, totalHours: 0 })
})

describe('the hours of a week', () => {
  test('are those of all timesheets of a worker with one week ending, and over 48 counts', async () => {
    const { weeks: found } = await of1({})
    expect(found).toEqual({
      ...{ thresholdHours: 48, workerWeeks: 4, workersOverThreshold: 2, distinctWorkersOverThreshold: 1 },
      ...{ totalHours: 194, averageWeeklyHours: 48.5, maxWeeklyHours: 50 },
    })
  })

  // Of 50, 48, 47.99 and 48.01 hours.
  test.each([
    [48, 'over', 2, 1],
    [48, 'at', 3, 1],
    [47.98, 'over', 4, 2],
    [47.99, 'over', 3, 1],
    [47.99, 'at', 4, 2],
    [50, 'over', 0, 0],
    [50, 'at', 1, 1],
    [50.01, 'at', 0, 0],
  ] as const)(
    'over %d hours, %s it: %i weeks of %i workers',
    async (...[threshold, rule, count, workers]) => {
      const { weeks: found } = await of1({ threshold, project: 'weeks' }, { threshold: rule })
      expect(found).toMatchObject({
        ...{ thresholdHours: threshold, workersOverThreshold: count, distinctWorkersOverThreshold: workers },
      })
    },
  )

  test('may be those of each timesheet by itself', async () => {
    const { weeks: found } = await of1({}, { workerWeek: 'timesheet' })
    expect(found).toMatchObject({
      workerWeeks: 5,
      workersOverThreshold: 1,
      maxWeeklyHours: 48.01,
      totalHours: 194,
    })
  })

  test.each([
    [{ workerWeek: 'worker' }, 3, 30],
    // Saturday and Sunday are one week from Monday.
    [{ workerWeek: 'calendarWeek' }, 2, 55],
    // From Sunday they are two, and Sunday and Monday are one.
    [{ workerWeek: 'calendarWeek', weekStart: 'sunday' }, 2, 45],
    [{ workerWeek: 'calendarWeek', weekStart: 'saturday' }, 1, 75],
    // In New York, midnight of a Monday is still Sunday.
    [{ workerWeek: 'calendarWeek', zone: 'America/New_York' }, 1, 75],
  ] as const)(
    'may be those of a calendar week: %j is %i weeks, the longest of %i hours',
    async (rules, count, longest) => {
      const { ends: found } = await of1({ project: 'ends' }, rules)
      expect(found).toMatchObject({ workerWeeks: count, maxWeeklyHours: longest, totalHours: 75 })
    },
  )

  test('of a calendar week count in the month of each week ending', async () => {
    const [groups = []] = await groupsUnder([{ workerWeek: 'calendarWeek' }], {
      groupings: [by('month')],
      project: 'ends',
    })
    expect(
      groups.map(({ groupKey, figures }) => [groupKey, figures.workerWeeks, figures.totalHours]).sort(),
    ).toEqual([
      ['2026-02', 1, 30],
      ['2026-03', 2, 45],
    ])
  })

  test('are added up within a group only', async () => {
    const found = await of1({ groupings: [by('agency')], project: 'weeks' })
    expect(found.a2).toMatchObject({ workerWeeks: 1, totalHours: 20, workersOverThreshold: 0 })
    expect(found.a1).toMatchObject({ workerWeeks: 4, maxWeeklyHours: 48.01, workersOverThreshold: 1 })
  })

  test('are over in each month and week by themselves', async () => {
    const [groups = []] = await groupsUnder([{}], { groupings: ['month', 'week'].map(by), project: 'weeks' })
    const shown = groups.map(({ groupBy, groupKey, figures }) =>
      [
        groupBy,
        groupKey,
        figures.workerWeeks,
        figures.workersOverThreshold,
        figures.distinctWorkersOverThreshold,
      ].join(' '),
    )
    expect(shown.sort()).toEqual([
      'month 2026-01 4 2 1',
      'week 2026-01-05 1 1 1',
      'week 2026-01-12 2 0 0',
      'week 2026-01-19 1 1 1',
    ])
  })
})

test('figures are rounded to the decimals that are kept, half up', async () => {
  const found = (await groupsUnder([null, 2, 1, 0].map(hoursDecimals => ({ hoursDecimals })))).map(figuresBy)
  expect(found.map(({ odd: one }) => one?.totalHours)).toEqual([30.015, 30.02, 30, 30])
  expect(found.map(({ weeks: one }) => one?.averageWeeklyHours)).toEqual([48.5, 48.5, 48.5, 49])
  expect(found.map(({ odd: one }) => one?.maxWeeklyHours)).toEqual([10.01, 10.01, 10, 10])
})

describe('groups', () => {
  test('of weeks have seven days, from Monday, Sunday or Saturday', async () => {
    const starts = (['monday', 'sunday', 'saturday'] as const).map(weekStart => ({ weekStart }))
    const found = await groupsUnder(starts, { groupings: [by('week')], project: 'days' })
    expect(
      found.map(groups => groups.map(({ groupKey, figures }) => `${groupKey} ${figures.totalHours}`).sort()),
    ).toEqual([
      ['2026-02-23 10', '2026-03-02 36', '2026-03-09 14'],
      ['2026-03-01 33', '2026-03-08 27'],
      ['2026-02-28 21', '2026-03-07 39'],
    ])
  })

  test('of months begin in the zone', async () => {
    const zones = ['UTC', 'Asia/Tokyo', 'America/New_York', '-00:01'].map(zone => ({ zone }))
    const found = await groupsUnder(zones, { groupings: [by('month')], project: 'days' })
    expect(
      found.map(groups => groups.map(({ groupKey, figures }) => `${groupKey} ${figures.totalHours}`).sort()),
    ).toEqual([['2026-03 60'], ['2026-03 60'], ['2026-02 10', '2026-03 50'], ['2026-02 10', '2026-03 50']])
  })

  test('have the keys that were asked for, and one of an agency is over its own', async () => {
    const groupings = ['all', 'company,month', 'project,agency,week'].map(by)
    const [found = []] = await groupsUnder([{}], { groupings, agency: 'a2', company: 'c1' })
    expect(found.map(({ groupBy, groupKey, keys }) => [groupBy, groupKey, keys]).sort()).toEqual([
      ['all', '', {}],
      ['company,month', 'c1|2026-01', { company: 'c1', month: '2026-01' }],
      ['project,agency,week', 'weeks|a2|2026-01-05', { project: 'weeks', agency: 'a2', week: '2026-01-05' }],
    ])
  })
})

// Week endings of 11, 18, 18 and 25 January.
test.each([
  [
    { from: '2026-01-18' },
    [
      [{}, 3],
      [{ from: 'exclusive' }, 1],
    ],
  ],
  [
    { to: '2026-01-18' },
    [
      [{}, 3],
      [{ to: 'midnight' }, 3],
      [{ to: 'exclusive' }, 1],
    ],
  ],
  [{ from: '2026-01-19', to: '2026-01-24' }, [[{}, 0]]],
] as const)('%o has %j weeks', async (range, counts) => {
  const query = { groupings: [[]], project: 'weeks', ...range }
  const found = await groupsUnder(
    counts.map(([parts]) => parts),
    query,
  )
  expect(found.map(groups => groups[0]?.figures.workerWeeks ?? 0)).toEqual(counts.map(([, count]) => count))
})
