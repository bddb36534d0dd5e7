/** Each open choice of the metrics, by cases small enough to work out by hand. */
import { describe, expect, it } from 'vitest'
import type { ContractOptions } from '../../../src/sandbox/options.ts'
import { type Body, openSandbox } from '../open-sandbox.ts'

const company = { id: 'c1', name: 'One' }
const project = { id: 'p1', name: 'Site' }
const approvedDate = '2026-01-01T00:00:00.000Z'

/** A requisition approved at New Year, with one agency for each time of acceptance. */
const requisition = (id: string, accepted: readonly string[], more: object = {}) => ({
  id,
  reference: id,
  status: 'filled',
  company,
  project,
  approvedDate,
  createdAt: '2025-12-20T00:00:00.000Z',
  agencies: accepted.map((dateAccepted, index) => ({
    id: `a${index}`,
    name: `Agency ${index}`,
    dateAccepted,
  })),
  ...more,
})
const afterDays = (days: number) => new Date(Date.parse(approvedDate) + days * 86_400_000).toISOString()
const sheet = (
  [id, worker, weekEnding]: readonly [string, string, string],
  netHours: number,
  more: object = {},
) => ({
  ...{ id, status: 'approved', company, project, netHours, agency: { id: 'a0', name: 'Agency 0' } },
  ...{ weekEnding: `${weekEnding}T00:00:00.000Z`, worker: { id: worker, name: worker } },
  ...more,
})

async function ask(records: object, options: Partial<ContractOptions>, query: string): Promise<Body[]> {
  const sandbox = await openSandbox({ records: { companies: [company], ...records }, options })
  const { body } = await sandbox.get(`/requisitions/recruitment-metrics?${query}`)
  return body.data
}
const fill = (accepted: readonly string[], options: Partial<ContractOptions>, query = '') =>
  ask({ requisitions: [requisition('r1', accepted)] }, options, `metric=timeToFill${query}`)

describe('quantiles of 1 to 10 days', () => {
  const tenDays = Array.from({ length: 10 }, (_, index) => afterDays(index + 1))

  it.each([
    ['type7', 3.25, 5.5, 7.75],
    ['type6', 2.75, 5.5, 8.25],
    ['type5', 3, 5.5, 8],
    ['type8', 2 + 11 / 12, 5.5, 8 + 1 / 12],
    ['type2', 3, 5.5, 8],
    ['nearestRank', 3, 5, 8],
  ] as const)('%s: %d, %d, %d', async (...[quantiles, first, median, third]) => {
    const [row] = await fill(tenDays, { quantiles })
    expect(row.values.p25Days).toBeCloseTo(first, 12)
    expect(row.values.medianDays).toBeCloseTo(median, 12)
    expect(row.values.p75Days).toBeCloseTo(third, 12)
    expect(row.iqrBounds.lower).toBeCloseTo(first - 1.5 * (third - first), 12)
    expect(row.iqrBounds.upper).toBeCloseTo(third + 1.5 * (third - first), 12)
    expect([row.rawCount, row.excludedOutliers, row.values.averageDays]).toEqual([10, 0, 5.5])
  })

  it.each([
    ['type2', 2.5],
    ['type5', 2.5],
    ['nearestRank', 2],
  ] as const)('%s of 1 to 8: a first quartile of %d', async (quantiles, first) => {
    const [row] = await fill(tenDays.slice(0, 8), { quantiles })
    expect(row.values.p25Days).toBe(first)
  })
})

describe('the outlier rule', () => {
  const withOutlier = [1, 2, 3, 4, 30].map(afterDays)

  it('takes the bounds from all values and the statistics from the values within them', async () => {
    const [row] = await fill(withOutlier, {})
    expect(row).toEqual({
      group: {},
      rawCount: 5,
      excludedOutliers: 1,
      iqrBounds: { lower: -1, upper: 7 },
      values: {
        count: 4,
        averageDays: 2.5,
        medianDays: 2.5,
        minDays: 1,
        maxDays: 4,
        p25Days: 1.75,
        p75Days: 3.25,
      },
    })
  })

  it('does not apply to small groups', async () => {
    const [row] = await fill(withOutlier, { 'outlier-min': 6 })
    expect([row.excludedOutliers, row.values.count, row.iqrBounds]).toEqual([
      0,
      5,
      { lower: null, upper: null },
    ])
  })

  it('keeps or drops values on a bound', async () => {
    const same = [2, 2, 2].map(afterDays)
    const [kept] = await fill(same, {})
    expect([kept.values.count, kept.values.averageDays]).toEqual([3, 2])
    const [dropped] = await fill(same, { 'outlier-bounds': 'exclusive' })
    expect([dropped.excludedOutliers, dropped.values.count, dropped.values.averageDays]).toEqual([3, 0, null])
  })

  it('works group by group', async () => {
    const rows = await fill(withOutlier, {}, '&groupBy=agency')
    expect(rows.map(row => [row.group.agency.name, row.excludedOutliers])).toEqual(
      [0, 1, 2, 3, 4].map(number => [`Agency ${number}`, 0]),
    )
  })
})

describe('days', () => {
  it.each([
    ['fractional', 1.4375],
    ['floor', 1],
    ['ceil', 2],
    ['round', 1],
    ['calendarUtc', 2],
    ['calendarLondon', 1],
    ['calendarZone', 2],
  ] as const)('%s: from 12:15 on 1 June to 22:45 on 2 June and later', async (days, expected) => {
    const approved = days === 'calendarLondon' ? '2026-06-01T23:30:00.000Z' : '2026-06-01T12:15:00.000Z'
    const accepted = { calendarUtc: '2026-06-03T00:30:00.000Z', calendarLondon: '2026-06-02T23:30:00.000Z' }
    const at = (accepted as Record<string, string>)[days] ?? '2026-06-02T22:45:00.000Z'
    const requisitions = [requisition('r1', [at], { approvedDate: approved })]
    const [row] = await ask(
      { requisitions },
      { 'fill-days': days, 'day-zone': 'Asia/Kathmandu' },
      'metric=timeToFill',
    )
    expect(row.values.averageDays).toBe(expected)
  })

  it('can be rounded', async () => {
    const thirds = [1 / 3, 2 / 3].map(afterDays)
    expect((await fill(thirds, { decimals: 2 }))[0].values.p25Days).toBe(0.42)
    expect((await fill(thirds, { decimals: 0 }))[0].values.averageDays).toBe(1)
  })
})

describe('acceptances', () => {
  const accepted = [5, 2, 9].map(afterDays)

  it.each([
    ['perAgency', [5, 2, 9]],
    ['earliest', [2]],
    ['latest', [9]],
  ] as const)('%s: %j', async (acceptance, expected) => {
    const [row] = await fill(accepted, { acceptance })
    expect([row.rawCount, row.values.minDays]).toEqual([expected.length, Math.min(...expected)])
  })

  it('are chosen for the requisition before the filter by agency', async () => {
    expect(await fill(accepted, { acceptance: 'earliest' }, '&agency=a0')).toEqual([])
    expect(await fill(accepted, { acceptance: 'earliest' }, '&agency=a1')).toHaveLength(1)
  })

  it('count for the chosen statuses, and never without an approval', async () => {
    const requisitions = [
      requisition('r1', [afterDays(1)]),
      requisition('r2', [afterDays(2)], { status: 'cancelled' }),
      requisition('r3', [afterDays(3)], { approvedDate: undefined }),
    ]
    const count = async (options: Partial<ContractOptions>) =>
      (await ask({ requisitions }, options, 'metric=timeToFill'))[0].rawCount
    expect(await count({})).toBe(2)
    expect(await count({ 'fill-statuses': ['filled'] })).toBe(1)
  })
})

describe('keys of groups', () => {
  const sheets = [sheet(['t1', 'w1', '2026-01-04'], 40), sheet(['t2', 'w1', '2026-01-05'], 50)]
  const groups = async (options: Partial<ContractOptions>, groupBy: string, timesheets = sheets) =>
    (await ask({ timesheets }, options, `metric=workersOverHours&groupBy=${groupBy}`)).map(row => row.group)

  it.each([
    [{}, ['2026-W01', '2026-W02']],
    [{ 'week-key': 'firstDay' }, ['2025-12-29', '2026-01-05']],
    // The week that begins on Sunday 4 January has its middle on Wednesday the 7th.
    [{ 'week-start': 'sunday' }, ['2026-W02']],
    [{ 'week-start': 'sunday', 'week-key': 'firstDay' }, ['2026-01-04']],
    [{ 'week-start': 'saturday', 'week-key': 'firstDay' }, ['2026-01-03']],
  ] as const)('weeks, %j: %j', async (options, expected) => {
    expect(await groups(options, 'week')).toEqual(expected.map(week => ({ week })))
  })

  it('months and references', async () => {
    expect(await groups({}, 'company,month')).toEqual([{ company, month: '2026-01' }])
    expect(await groups({ 'month-key': 'firstDay' }, 'month,all')).toEqual([{ month: '2026-01-01' }])
    expect(await groups({ 'group-ref': 'id' }, 'project')).toEqual([{ project: 'p1' }])
    expect(await groups({ 'group-ref': 'name' }, 'agency')).toEqual([{ agency: 'Agency 0' }])
    expect(await groups({}, 'all')).toEqual([{}])
  })

  it('follow the zone', async () => {
    const late = [sheet(['t1', 'w1', '2026-06-30'], 40, { weekEnding: '2026-06-30T23:30:00.000Z' })]
    expect(await groups({}, 'month', late)).toEqual([{ month: '2026-06' }])
    expect(await groups({ 'day-zone': 'Europe/London' }, 'month', late)).toEqual([{ month: '2026-07' }])
  })
})

describe('hours', () => {
  const sheets = [
    sheet(['t1', 'w1', '2026-01-04'], 30),
    sheet(['t2', 'w1', '2026-01-04'], 18),
    sheet(['t3', 'w2', '2026-01-04'], 60, { status: 'pending' }),
    sheet(['t4', 'w1', '2026-01-11'], 50),
  ]
  const row = async (options: Partial<ContractOptions>, query = '') =>
    (await ask({ timesheets: sheets }, options, `metric=workersOverHours${query}`))[0].values

  it('are added up for each worker and week', async () => {
    expect(await row({})).toEqual({
      ...{ thresholdHours: 48, hoursField: 'netHours', workerWeeks: 2, workersOverThreshold: 1 },
      ...{ distinctWorkersOverThreshold: 1, totalHours: 98, averageWeeklyHours: 49, maxWeeklyHours: 50 },
    })
  })

  it('count over the threshold or at it, for the chosen statuses', async () => {
    expect((await row({ threshold: 'at' })).workersOverThreshold).toBe(2)
    const more = await row({ 'hours-statuses': ['approved', 'pending'] })
    expect([more.workerWeeks, more.distinctWorkersOverThreshold]).toEqual([3, 2])
  })

  it('end with the day of `to`, or before it', async () => {
    expect((await row({}, '&to=2026-01-11')).totalHours).toBe(98)
    expect((await row({ to: 'exclusive' }, '&to=2026-01-11')).totalHours).toBe(48)
    expect((await row({ to: 'exclusive' }, '&from=2026-01-11&to=2026-01-12')).totalHours).toBe(50)
  })
})
