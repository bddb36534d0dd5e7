/** Both metrics by cases small enough to work out by hand, as SQL on both engines. */
import { expect, test } from 'vitest'
import { definitionDefaults, type MetricDefinition } from '../../src/crosscheck/metrics/definition.ts'
import { type Grouping, groupingOf, type MetricQuery } from '../../src/crosscheck/metrics/metric-query.ts'
import { type OurGroup, ourMetrics } from '../../src/crosscheck/metrics/our-metrics.ts'
import { describeOnEngines, type Warehouse } from '../support/warehouse-fixture.ts'
import { loadRecords } from './load-records.ts'

const company = { id: 'c1', name: 'One' }
const approvedDate = '2026-01-01T00:00:00.000Z'
const DAY_MS = 86_400_000
const afterDays = (days: number) => new Date(Date.parse(approvedDate) + days * DAY_MS).toISOString()

/** Approved at New Year on a project of its own, with an agency for each of these days. */
const requisition = (name: string, days: readonly number[], more: object = {}) => ({
  ...{ id: name, reference: `REQ-${name}`, status: 'filled', company, approvedDate },
  project: { id: name, name: `Project ${name}` },
  createdAt: '2025-12-20T00:00:00.000Z',
  updatedAt: '2026-03-01T00:00:00.000Z',
  agencies: days.map((day, index) => ({
    ...{ id: `a${index}`, name: `Agency ${index}`, dateAccepted: afterDays(day) },
  })),
  ...more,
})

const sheet = (
  id: string,
  [worker, weekEnding, netHours]: readonly [string, string, number],
  more: object = {},
) => ({
  ...{ id, reference: id, status: 'approved', company, netHours, version: 1 },
  ...{
    project: { id: 'p1', name: 'P' },
    agency: { id: 'a0', name: 'Agency 0' },
    worker: { id: worker, name: 'W' },
  },
  ...{ weekEnding: `${weekEnding}T00:00:00.000Z`, createdAt: approvedDate, updatedAt: approvedDate },
  ...more,
})

const requisitions = [
  requisition('outlier', [1, 2, 3, 4, 30]),
  requisition('equal', [2, 2, 2, 2]),
  requisition('single', [5]),
  requisition('negative', [-1, -0.5, 1]),
  requisition('ten', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
  requisition('unapproved', [3], { approvedDate: null, status: 'raised' }),
  requisition('unanswered', []),
  requisition('cancelled', [7], { status: 'cancelled' }),
]

const timesheets = [
  // Two sheets of one week are one worker-week of 50 hours.
  sheet('t1', ['w1', '2026-01-11', 30]),
  sheet('t2', ['w1', '2026-01-11', 20], { agency: { id: 'a1', name: 'Agency 1' } }),
  sheet('t3', ['w1', '2026-01-18', 48]),
  sheet('t4', ['w2', '2026-01-18', 0]),
  sheet('t5', ['w2', '2026-01-25', 60], { status: 'pending' }),
]

const grouping = (text: string) => groupingOf(text) as Grouping

describeOnEngines('the metrics by hand', bench => {
  let made: Promise<Warehouse> | undefined
  const ask = async (
    query: Omit<MetricQuery, 'groupings'> & { by: string },
    more: Partial<MetricDefinition> = {},
  ) => {
    const { by, ...rest } = query
    const { engine } = await filled()
    return ourMetrics(engine, { ...rest, groupings: [grouping(by)] }, { ...definitionDefaults, ...more })
  }
  const filled = async () => {
    made ??= bench.warehouse().then(async warehouse => {
      await loadRecords(warehouse, 'requisitions', requisitions)
      await loadRecords(warehouse, 'timesheets', timesheets)
      return warehouse
    })
    return made
  }
  const figuresBy = (groups: readonly OurGroup[]) =>
    Object.fromEntries(groups.map(group => [group.groupKey, group.figures]))

  // Time to fill of each project, hours of each week, and nothing of an empty range.
  const figures = async (): Promise<void> => {
    const fill = figuresBy(await ask({ metric: 'timeToFill', by: 'project' }))
    expect(Object.keys(fill).sort()).toEqual(['cancelled', 'equal', 'negative', 'outlier', 'single', 'ten'])
    // Q1 = 2 and Q3 = 4 of 1, 2, 3, 4, 30: bounds -1 and 7; the rest is of 1, 2, 3, 4.
    expect(fill.outlier).toEqual({
      ...{
        rawCount: 5,
        excludedOutliers: 1,
        lower: -1,
        upper: 7,
        count: 4,
        averageDays: 2.5,
        medianDays: 2.5,
      },
      ...{ minDays: 1, maxDays: 4, p25Days: 1.75, p75Days: 3.25 },
    })
    const two = { averageDays: 2, medianDays: 2, minDays: 2, maxDays: 2, p25Days: 2, p75Days: 2 }
    expect(fill.equal).toEqual({ rawCount: 4, excludedOutliers: 0, lower: 2, upper: 2, count: 4, ...two })
    expect(fill.single).toMatchObject({
      rawCount: 1,
      count: 1,
      lower: 5,
      upper: 5,
      medianDays: 5,
      p75Days: 5,
    })
    // Q1 = -0.75 and Q3 = 0.25 of -1, -0.5, 1.
    expect(fill.negative).toMatchObject({
      rawCount: 3,
      lower: -2.25,
      upper: 1.75,
      minDays: -1,
      medianDays: -0.5,
    })
    expect(fill.negative?.averageDays).toBeCloseTo(-1 / 6, 12)

    const hours = figuresBy(await ask({ metric: 'workersOverHours', by: 'week' }))
    expect(hours).toEqual({
      '2026-01-05': {
        ...{ thresholdHours: 48, workerWeeks: 1, workersOverThreshold: 1, distinctWorkersOverThreshold: 1 },
        ...{ totalHours: 50, averageWeeklyHours: 50, maxWeeklyHours: 50 },
      },
      '2026-01-12': {
        ...{ thresholdHours: 48, workerWeeks: 2, workersOverThreshold: 0, distinctWorkersOverThreshold: 0 },
        ...{ totalHours: 48, averageWeeklyHours: 24, maxWeeklyHours: 48 },
      },
    })
    const never = { from: '2020-01-01', to: '2020-12-31' }
    for (const metric of ['timeToFill', 'workersOverHours'] as const)
      expect(await ask({ metric, by: 'all', ...never })).toEqual([])

    const others: [Partial<MetricDefinition>, number, number, number][] = [
      [{ quantiles: 'type6', valueQuantiles: 'type6' }, 2.75, 5.5, 8.25],
      [{ quantiles: 'type5', valueQuantiles: 'type5' }, 3, 5.5, 8],
      [{ quantiles: 'type8', valueQuantiles: 'type8' }, 2 + 11 / 12, 5.5, 8 + 1 / 12],
      [{ quantiles: 'type2', valueQuantiles: 'type2' }, 3, 5.5, 8],
      [{ quantiles: 'nearestRank', valueQuantiles: 'nearestRank' }, 3, 5, 8],
      [{ quantiles: 'floorIndex', valueQuantiles: 'floorIndex' }, 3, 6, 8],
    ]
    for (const [definition, first, median, third] of others) {
      const [ten] = await ask({ metric: 'timeToFill', by: 'all', project: 'ten' }, definition)
      const reach = 1.5 * (third - first)
      expect(ten?.figures.p25Days).toBeCloseTo(first, 12)
      expect(ten?.figures.medianDays).toBeCloseTo(median, 12)
      expect(ten?.figures.p75Days).toBeCloseTo(third, 12)
      expect(ten?.figures.lower).toBeCloseTo(first - reach, 12)
      expect(ten?.figures.upper).toBeCloseTo(third + reach, 12)
    }
  }

  const choices = async (): Promise<void> => {
    const fill = async (project: string, more: Partial<MetricDefinition>) =>
      (await ask({ metric: 'timeToFill', by: 'all', project }, more))[0]?.figures
    expect(await fill('equal', { bounds: 'exclusive' })).toMatchObject({
      count: 0,
      averageDays: null,
      lower: 2,
    })
    expect(await fill('outlier', { minForRule: 6 })).toMatchObject({
      excludedOutliers: 0,
      lower: null,
      maxDays: 30,
    })
    expect(await fill('outlier', { acceptance: 'latest' })).toMatchObject({ rawCount: 1, minDays: 30 })
    expect(await fill('outlier', { acceptance: 'earliest' })).toMatchObject({ rawCount: 1, minDays: 1 })
    expect(await fill('negative', { days: 'floor' })).toMatchObject({ minDays: -1, medianDays: -1 })
    expect(await fill('negative', { days: 'ceil' })).toMatchObject({ minDays: -1, medianDays: 0 })
    expect((await fill('negative', { daysDecimals: 2 }))?.averageDays).toBe(-0.17)
    expect(await fill('cancelled', { requisitionStatuses: ['filled'] })).toBeUndefined()
    expect(await fill('single', { companies: ['another'] })).toBeUndefined()
    const hours = async (more: Partial<MetricDefinition>, threshold = 48) =>
      (await ask({ metric: 'workersOverHours', by: 'all', threshold }, more))[0]?.figures
    expect(await hours({})).toMatchObject({ workerWeeks: 3, workersOverThreshold: 1, totalHours: 98 })
    expect(await hours({ threshold: 'at' })).toMatchObject({
      workersOverThreshold: 2,
      distinctWorkersOverThreshold: 1,
    })
    const place = { company: 'c1', project: 'p1', agency: 'a1' }
    const [placed] = await ask({ metric: 'workersOverHours', by: 'all', ...place })
    expect(placed?.figures).toMatchObject({ workerWeeks: 1, totalHours: 20 })
    expect(await hours({ workerWeek: 'timesheet' })).toMatchObject({ workerWeeks: 4, maxWeeklyHours: 48 })
    expect(await hours({ timesheetStatuses: ['pending'] }, 59.5)).toMatchObject({ workersOverThreshold: 1 })
    expect(await hours({ hoursField: 'timelogHours' })).toMatchObject({ totalHours: 0 })
  }

  // Ranges and weeks begin where the definition says.
  const ranges = async (): Promise<void> => {
    const count = async (range: { from?: string; to?: string }, more: Partial<MetricDefinition> = {}) =>
      (await ask({ metric: 'workersOverHours', by: 'all', ...range }, more))[0]?.figures.workerWeeks ?? 0
    expect(await count({ to: '2026-01-11' })).toBe(1)
    expect(await count({ to: '2026-01-11' }, { to: 'midnight' })).toBe(1)
    expect(await count({ to: '2026-01-11' }, { to: 'exclusive' })).toBe(0)
    expect(await count({ from: '2026-01-11' })).toBe(3)
    expect(await count({ from: '2026-01-11' }, { from: 'exclusive' })).toBe(2)
    const weeks = async (weekStart: MetricDefinition['weekStart']) =>
      (await ask({ metric: 'workersOverHours', by: 'week' }, { weekStart }))
        .map(group => group.groupKey)
        .sort()
    expect(await weeks('sunday')).toEqual(['2026-01-11', '2026-01-18'])
    expect(await weeks('saturday')).toEqual(['2026-01-10', '2026-01-17'])
    // 23:30 in UTC on 30 June is July in London.
    const { engine } = await filled()
    await engine.run(
      `update star.fact_timesheet set week_ending_at = cast('2026-06-30T23:30:00Z' as timestamptz) where timesheet_id = 't3'`,
    )
    const months = async (zone: string) =>
      (await ask({ metric: 'workersOverHours', by: 'month' }, { zone })).map(group => group.groupKey).sort()
    expect(await months('UTC')).toEqual(['2026-01', '2026-06'])
    expect(await months('Europe/London')).toEqual(['2026-01', '2026-07'])
  }

  test('figures, choices, ranges', async () => {
    await figures()
    await choices()
    await ranges()
  })
})
