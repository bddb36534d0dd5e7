/** The aggregate metrics of the generated world against a second, plain computation of the same. */
import { describe, expect, it } from 'vitest'
import { type Body, openSandbox } from '../open-sandbox.ts'

const sandbox = await openSandbox({ provokesViolations: true })
const path = '/requisitions/recruitment-metrics'
const all = (name: Parameters<typeof sandbox.world.all>[0]) => sandbox.world.all(name) as Body[]
const tracking = new Set(all('companies').flatMap(row => (row.stageTracking ? [row.id] : [])))
const DAY = 86_400_000

interface Sample {
  readonly days: number
  readonly at: string
  readonly company: Body
  readonly project: Body
  readonly agency: Body
}

const samples: Sample[] = all('requisitions')
  .filter(row => tracking.has(row.company.id))
  .flatMap(row =>
    row.agencies
      .filter((agency: Body) => agency.dateAccepted)
      .map((agency: Body) => ({
        days: (Date.parse(agency.dateAccepted) - Date.parse(row.approvedDate)) / DAY,
        at: agency.dateAccepted,
        company: row.company,
        project: row.project,
        agency: { id: agency.id, name: agency.name },
      })),
  )

/** The ISO week by its Thursday, found day by day. */
function isoWeek(text: string): string {
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`)
  while (day.getUTCDay() !== 4)
    day.setTime(day.getTime() + (day.getUTCDay() === 0 ? -DAY * 3 : day.getUTCDay() < 4 ? DAY : -DAY))
  let week = 1
  const cursor = new Date(day)
  for (cursor.setTime(day.getTime() - 7 * DAY); cursor.getUTCFullYear() === day.getUTCFullYear(); ) {
    week += 1
    cursor.setTime(cursor.getTime() - 7 * DAY)
  }
  return `${day.getUTCFullYear()}-W${String(week).padStart(2, '0')}`
}

const keyOf: Readonly<Record<string, (row: Body) => unknown>> = {
  company: row => row.company,
  project: row => row.project,
  agency: row => row.agency,
  month: row => row.at.slice(0, 7),
  week: row => isoWeek(row.at),
}

function groupsOf<T>(rows: readonly T[], keys: readonly string[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const row of rows) {
    const name = JSON.stringify(Object.fromEntries(keys.map(key => [key, keyOf[key]?.(row)])))
    groups.set(name, [...(groups.get(name) ?? []), row])
  }
  return groups
}

const percentile = (sorted: readonly number[], share: number) => {
  const place = share * (sorted.length - 1)
  const [low, high] = [sorted[Math.floor(place)] as number, sorted[Math.ceil(place)] as number]
  return low + (high - low) * (place % 1)
}

async function everyRow(query: string): Promise<{ rows: Body[]; meta: Body }> {
  const rows: Body[] = []
  for (let page = 1; ; page += 1) {
    const { body } = await sandbox.get(`${path}?${query}&limit=200&page=${page}`)
    rows.push(...body.data)
    if (rows.length >= body.meta.total || body.data.length === 0) return { rows, meta: body.meta }
  }
}

const groupings = ['all', 'company', 'project', 'agency', 'month', 'week', 'company,month', 'agency,week']

describe.each(groupings)('by %s', groupBy => {
  const keys = groupBy.split(',').filter(key => key !== 'all')

  it('times to fill, without the outliers of each group', async () => {
    const { rows, meta } = await everyRow(`metric=timeToFill&groupBy=${groupBy}`)
    const expected = groupsOf(samples, keys)
    expect(meta).toMatchObject({
      total: expected.size,
      metric: 'timeToFill',
      groupBy,
      dateField: 'dateAccepted',
      outlierRule: 'IQR_1_5',
    })
    expect(rows.map(row => JSON.stringify(row.group)).sort()).toEqual([...expected.keys()].sort())
    for (const row of rows) {
      const days = (expected.get(JSON.stringify(row.group)) ?? []).map(one => one.days).sort((a, b) => a - b)
      const [first, third] = [percentile(days, 0.25), percentile(days, 0.75)]
      const lower = first - 1.5 * (third - first)
      const upper = third + 1.5 * (third - first)
      const kept = days.filter(day => day >= lower && day <= upper)
      expect([row.rawCount, row.excludedOutliers]).toEqual([days.length, days.length - kept.length])
      expect(row.iqrBounds.lower).toBeCloseTo(lower, 9)
      expect(row.iqrBounds.upper).toBeCloseTo(upper, 9)
      expect(row.values.count).toBe(kept.length)
      expect(row.values.averageDays).toBeCloseTo(kept.reduce((sum, day) => sum + day, 0) / kept.length, 9)
      expect(row.values.medianDays).toBeCloseTo(percentile(kept, 0.5), 9)
      expect([row.values.minDays, row.values.maxDays]).toEqual([kept[0], kept.at(-1)])
      expect(row.values.p25Days).toBeCloseTo(percentile(kept, 0.25), 9)
      expect(row.values.p75Days).toBeCloseTo(percentile(kept, 0.75), 9)
    }
    if (groupBy === 'all') expect(rows[0].excludedOutliers).toBeGreaterThan(0)
  })

  it('workers over hours, week by week', async () => {
    const query = `metric=workersOverHours&groupBy=${groupBy}&hoursThreshold=45&from=2026-06-01&to=2026-08-31`
    const { rows, meta } = await everyRow(query)
    const sheets = all('timesheets')
      .filter(row => row.status === 'approved' && tracking.has(row.company.id))
      .filter(row => row.weekEnding >= '2026-06-01' && row.weekEnding < '2026-09-01')
      .map(row => ({ ...row, at: row.weekEnding }))
    const expected = groupsOf(sheets, keys)
    expect(meta).toMatchObject({
      total: expected.size,
      metric: 'workersOverHours',
      groupBy,
      dateField: 'weekEnding',
    })
    expect(meta.outlierRule).toBeUndefined()
    for (const row of rows) {
      const hours: Record<string, number> = {}
      for (const sheet of expected.get(JSON.stringify(row.group)) ?? []) {
        const week = `${sheet.worker.id} ${sheet.weekEnding}`
        hours[week] = (hours[week] ?? 0) + sheet.netHours
      }
      const over = Object.entries(hours).filter(([, sum]) => sum > 45)
      const total = Object.values(hours).reduce((sum, value) => sum + value, 0)
      expect(row.values).toEqual({
        thresholdHours: 45,
        hoursField: 'netHours',
        workerWeeks: Object.keys(hours).length,
        workersOverThreshold: over.length,
        distinctWorkersOverThreshold: new Set(over.map(([week]) => week.split(' ')[0])).size,
        totalHours: total,
        averageWeeklyHours: total / Object.keys(hours).length,
        maxWeeklyHours: Math.max(...Object.values(hours)),
      })
    }
  })
})

it('has a threshold of 48 hours, which must be exceeded', async () => {
  const row = (await sandbox.get(`${path}?metric=workersOverHours`)).body.data[0]
  expect(row.values.thresholdHours).toBe(48)
  const most = row.values.maxWeeklyHours
  const at = (await sandbox.get(`${path}?metric=workersOverHours&hoursThreshold=${most}`)).body.data[0]
  expect(at.values.workersOverThreshold).toBe(0)
})

it('filters by company, project, agencies and the day of acceptance', async () => {
  const count = async (query: string) => {
    const { data } = (await sandbox.get(`${path}?metric=timeToFill&${query}`)).body
    return data.length === 0 ? 0 : data[0].rawCount
  }
  const [one] = samples as [Sample]
  const agencies = [...new Set(samples.map(row => row.agency.id))].slice(0, 2)
  const day = one.at.slice(0, 10)
  const total = (test: (row: Sample) => boolean) => samples.filter(test).length
  expect(await count('')).toBe(samples.length)
  expect(await count(`company=${one.company.id}`)).toBe(total(row => row.company.id === one.company.id))
  expect(await count(`project=${one.project.id}`)).toBe(total(row => row.project.id === one.project.id))
  expect(await count(`agency=${agencies}`)).toBe(total(row => agencies.includes(row.agency.id)))
  expect(await count(`from=${day}&to=${day}`)).toBe(total(row => row.at.startsWith(day)))
  expect(await count('from=2019-01-01&to=2019-01-02')).toBe(0)
  const untracked = all('companies').find(row => !tracking.has(row.id))
  expect((await sandbox.get(`${path}?company=${untracked.id}`)).body.meta.total).toBe(0)
})

it('pages, selects and refuses', async () => {
  const { body } = await sandbox.get(
    `${path}?metric=timeToFill&groupBy=month&limit=2&page=2&fields=group,values.count`,
  )
  expect(body.data).toHaveLength(2)
  expect(Object.keys(body.data[0])).toEqual(['group', 'values'])
  expect(Object.keys(body.data[0].values)).toEqual(['count'])
  expect(body.meta).toMatchObject({ page: 2, limit: 2 })
  for (const query of [
    'metric=x',
    'groupBy=company,year',
    'groupBy=',
    'hoursThreshold=-1',
    'sortBy=status',
  ]) {
    expect((await sandbox.get(`${path}?${query}`)).status, query).toBe(400)
  }
})

it('shows in its rows what the stage tracking holds', async () => {
  const { rows } = await everyRow('sortBy=reqRef&sortOrder=asc')
  const tracked = all('requisitions')
    .sort((left, right) => (left.reference < right.reference ? -1 : 1))
    .flatMap(row => (row.stageTracking ?? []).map((entry: Body) => ({ row, entry })))
  expect(rows).toHaveLength(tracked.length)
  const dmy = (text: string | undefined) => (text ? text.slice(0, 10).split('-').reverse().join('/') : '')
  const midnight = (text: string) => Date.parse(text.slice(0, 10))
  for (const [index, { row, entry }] of tracked.entries()) {
    const shown = rows[index]
    const at = (stage: string) => entry.history.find((step: Body) => step.stage === stage)?.at
    expect([shown.reqRef, shown.worker, shown.supplier, shown.currentStage]).toEqual([
      row.reference,
      entry.worker.name,
      entry.agency.name,
      entry.stage,
    ])
    for (const stage of ['submitted', 'cvReviewed', 'offerMade', 'assigned', 'missingCompliance']) {
      expect(shown[stage]).toBe(dmy(at(stage)))
    }
    const accepted = row.agencies.find((agency: Body) => agency.id === entry.agency.id).dateAccepted
    const filled = at('offerMade') ?? accepted
    expect(shown.timeToFillDays).toBe((midnight(filled) - midnight(row.createdAt)) / DAY)
  }
  expect(rows.some(row => row.cvRejected === 'Yes')).toBe(true)
})
