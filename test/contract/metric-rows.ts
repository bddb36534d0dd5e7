/** The parameters of the recruitment metrics: rows against rows, aggregates against sums over the lists. */
import { expect } from 'vitest'
import type { Body } from '../sandbox/open-sandbox.ts'
import { expectBad } from './paging-rows.ts'
import { expectRefusal, type Row } from './row.ts'
import { agencies, companies, type Stand } from './stand.ts'

const path = '/requisitions/recruitment-metrics'
const isoOf = (day: string) => day.split('/').reverse().join('-')

/** A filter of the row mode keeps the rows of the unfiltered answer that it should. */
async function expectRows(stand: Stand, query: string, keeps: (row: Body) => boolean): Promise<void> {
  const all = await stand.list(path)
  const expected = all.filter(keeps)
  expect([expected.length > 0, expected.length < all.length], query).toEqual([true, true])
  expect(await stand.list(path, query), query).toEqual(expected)
}

const named = (stand: Stand, name: 'agencies' | 'projects', id: string) =>
  (stand.sandbox.world.get(name, id) as Body).name

async function showRange(stand: Stand, side: 'from' | 'to'): Promise<void> {
  const days = (await stand.list(path)).map(row => isoOf(row.reqCreated)).sort()
  const day = days[Math.floor(days.length / 2)] ?? ''
  await expectRows(stand, `${side}=${day}`, row =>
    side === 'from' ? isoOf(row.reqCreated) >= day : isoOf(row.reqCreated) <= day,
  )
  const counts = { timeToFill: 'rawCount', workersOverHours: 'workerWeeks' }
  for (const [metric, count] of Object.entries(counts)) {
    const counted = async (query: string): Promise<number> => {
      const [row] = await stand.list(path, `metric=${metric}${query}`)
      return row[count] ?? row.values[count]
    }
    const before = new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10)
    const parts = [await counted(`&from=${day}`), await counted(`&to=${before}`)]
    expect(parts.every(part => part > 0)).toBe(true)
    expect((parts[0] ?? 0) + (parts[1] ?? 0), metric).toBe(await counted(''))
  }
  await expectBad(stand, [path, side], ['2026-02-30', 'x', ''])
}

/** Hours of each worker and week, added up from the timesheets themselves. */
async function weeklyHours(stand: Stand): Promise<number[]> {
  const sums = new Map<string, number>()
  for (const sheet of await stand.list('/timesheets')) {
    if (sheet.status !== 'approved') continue
    const key = `${sheet.worker.id} ${sheet.weekEnding}`
    sums.set(key, (sums.get(key) ?? 0) + sheet.netHours)
  }
  return [...sums.values()]
}

async function showGroups(stand: Stand): Promise<void> {
  const sums = { timeToFill: 'rawCount', workersOverHours: 'workerWeeks' }
  for (const [metric, count] of Object.entries(sums)) {
    const asked = (groupBy: string) => stand.list(path, `metric=${metric}${groupBy && `&groupBy=${groupBy}`}`)
    const [whole] = await asked('')
    expect([whole.group, await asked('all')]).toEqual([{}, [whole]])
    for (const groupBy of ['company', 'project', 'agency', 'month', 'week', 'company,month']) {
      const groups = await asked(groupBy)
      for (const { group } of groups) expect(Object.keys(group).join(',')).toBe(groupBy)
      const total = groups.reduce((sum, row) => sum + (row[count] ?? row.values[count]), 0)
      // A worker's week counts once in each project and agency it was worked for.
      if (metric === 'timeToFill') expect(total, groupBy).toBe(whole[count])
      else expect(total, groupBy).toBeGreaterThanOrEqual(whole.values[count])
    }
  }
  await expectBad(stand, [path, 'groupBy'], ['day', '', 'company,day'])
}

const checks: Readonly<Record<string, (stand: Stand) => Promise<void>>> = {
  company: async stand => {
    const of = new Map(
      stand.sandbox.world.all('requisitions').map((one: Body) => [one.reference, one.company.id]),
    )
    for (const id of companies) await expectRows(stand, `company=${id}`, row => of.get(row.reqRef) === id)
    expect(await stand.list(path, `company=${companies.join()}`)).toEqual(await stand.list(path))
    expectRefusal(await stand.get(`${path}?company=${companies[1]}`, 'one company'), 403)
    await expectBad(stand, [path, 'company'], ['', 'a b'])
  },
  project: async stand => {
    const { project } = (await stand.list(path))[0]
    const { id } = stand.sandbox.world.all('projects').find(({ name }) => name === project) as Body
    await expectRows(stand, `project=${id}`, row => row.project === project)
    await expectBad(stand, [path, 'project'], ['', 'a b'])
  },
  agency: async stand => {
    const names = agencies.slice(0, 2).map(id => named(stand, 'agencies', id))
    await expectRows(stand, `agency=${agencies[0]}`, row => row.supplier === names[0])
    await expectRows(stand, `agency=${agencies[0]},${agencies[1]}`, row => names.includes(row.supplier))
    await expectBad(stand, [path, 'agency'], ['', 'a b'])
  },
  metric: async stand => {
    expect(await stand.list(path, 'metric=rows')).toEqual(await stand.list(path))
    const fill = (await stand.get(`${path}?metric=timeToFill`)).body
    expect(Object.keys(fill.data[0])).toEqual([
      'group',
      'rawCount',
      'excludedOutliers',
      'iqrBounds',
      'values',
    ])
    const meta = { total: 1, metric: 'timeToFill', groupBy: 'all', dateField: 'dateAccepted' }
    expect(fill.meta).toMatchObject({ ...meta, outlierRule: 'IQR_1_5' })
    const [hours] = await stand.list(path, 'metric=workersOverHours')
    expect(Object.keys(hours)).toEqual(['group', 'values'])
    await expectBad(stand, [path, 'metric'], ['nothing', ''])
  },
  groupBy: showGroups,
  hoursThreshold: async stand => {
    const weeks = await weeklyHours(stand)
    for (const threshold of [0, 40.5, 48, 60]) {
      const [{ values }] = await stand.list(path, `metric=workersOverHours&hoursThreshold=${threshold}`)
      const over = weeks.filter(hours => hours > threshold).length
      expect([values.thresholdHours, values.workersOverThreshold]).toEqual([threshold, over])
      expect(values.workerWeeks).toBe(weeks.length)
    }
    await expectBad(stand, [path, 'hoursThreshold'], ['x', '-1', ''])
  },
  from: stand => showRange(stand, 'from'),
  to: stand => showRange(stand, 'to'),
  sortBy: async stand => {
    const keys = {
      createdAt: (row: Body) => isoOf(row.reqCreated),
      reqRef: (row: Body) => row.reqRef,
    }
    for (const [name, keyOf] of Object.entries(keys)) {
      const found = (await stand.list(path, `sortBy=${name}&sortOrder=asc`)).map(keyOf)
      expect(found).toEqual([...found].sort())
      expect(new Set(found).size).toBeGreaterThan(1)
    }
    await expectBad(stand, [path, 'sortBy'], ['name', ''])
  },
  sortOrder: async stand => {
    const refs = async (order: string) =>
      (await stand.list(path, `sortBy=reqRef&sortOrder=${order}`)).map(row => row.reqRef)
    expect(await refs('desc')).toEqual((await refs('asc')).reverse())
    await expectBad(stand, [path, 'sortOrder'], ['up', ''])
  },
}

export const metricRows: readonly Row[] = Object.entries(checks).map(([name, show]) => ({
  kind: 'parameter',
  what: `GET ${path} ${name}`,
  where: '4',
  show,
}))
