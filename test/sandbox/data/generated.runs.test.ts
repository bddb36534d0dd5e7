/** The generated world is the same for the same seed, is believable, and its sums add up. */
import { describe, expect, it } from 'vitest'
import { calendarDay } from '../../../src/sandbox/data/calendar.ts'
import { generateRecords } from '../../../src/sandbox/data/generate.ts'
import type { Body } from '../open-sandbox.ts'
import { brokenSums } from './sums.ts'

const options = { seed: 1, scale: 1, today: '2026-11-02' }
const records = generateRecords(options) as Record<string, object> as Record<string, Body[]>
const { timesheets = [], expenses = [], invoices = [], projects = [], users = [] } = records

it('is the same, byte by byte, for the same seed, scale and day', () => {
  const small = { ...options, scale: 0.02 }
  const text = JSON.stringify(generateRecords(small))
  expect(JSON.stringify(generateRecords(small))).toBe(text)
  expect(JSON.stringify(generateRecords({ ...small, seed: 2 }))).not.toBe(text)
  expect(JSON.stringify(generateRecords({ ...small, today: '2026-11-03' }))).not.toBe(text)
})

it('shares no object with another world that a change to one record could reach', () => {
  const objectsIn = (value: unknown): object[] =>
    typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(objectsIn)] : []
  const small = { ...options, scale: 0.02 }
  const known = new Set(objectsIn(generateRecords(small)))
  const shared = objectsIn(generateRecords(small)).filter(one => known.has(one) && !Object.isFrozen(one))
  expect(known.size).toBeGreaterThan(1000)
  expect(shared).toEqual([])
})

it('has the documented size', () => {
  const sizes = Object.fromEntries(Object.entries(records).map(([name, rows]) => [name, rows.length]))
  expect(sizes).toMatchObject({ companies: 3, projects: 60, sites: 150, agencies: 25, timesheets: 5000 })
  expect(generateRecords({ ...options, scale: 0.01 }).timesheets).toHaveLength(50)
})

it('has distinct ids that begin with the second of creation', () => {
  for (const [name, rows] of Object.entries(records)) {
    const ids = rows.flatMap(row => row.id ?? [])
    if (name !== 'competencyMatrix') expect(new Set(ids).size, name).toBe(rows.length)
    for (const row of rows) {
      if (row.id === undefined || row.createdAt === undefined) continue
      expect(row.id).toMatch(/^[0-9a-f]{24}$/)
      expect(Number.parseInt(row.id.slice(0, 8), 16)).toBe(Math.floor(Date.parse(row.createdAt) / 1000))
    }
  }
})

it('has times before its day, and edits after creation', () => {
  for (const row of [...timesheets, ...expenses, ...invoices, ...projects, ...users]) {
    expect(row.createdAt <= row.updatedAt, row.id).toBe(true)
    expect(row.updatedAt < '2026-11-02', row.id).toBe(true)
    expect(row.updatedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  }
})

it('has no work at a site before the site exists, and invoices only approved timesheets', () => {
  const created = new Map((records.sites ?? []).map(site => [site.id, site.createdAt]))
  const early = timesheets.filter(row => row.end < created.get(row.site.id))
  expect(early).toEqual([])
  const approved = new Map(timesheets.map(row => [row.id, row.approvedDate]))
  for (const invoice of invoices) {
    for (const { id } of invoice.timesheets) expect(approved.get(id) < invoice.createdAt).toBe(true)
  }
})

it('has sums that add up', () => {
  expect(brokenSums({ timesheets, expenses, invoices })).toEqual([])
})

describe('timesheets', () => {
  it('end on Sundays over 18 months', () => {
    const weeks = new Set(timesheets.map(row => row.weekEnding))
    expect(weeks.size).toBeGreaterThan(70)
    for (const week of weeks) expect(new Date(week).getUTCDay()).toBe(0)
    expect([...weeks].every(week => week.endsWith('T00:00:00.000Z'))).toBe(true)
  })

  it('have fields that fit their status', () => {
    const count = (status: string) => timesheets.filter(row => row.status === status).length
    for (const status of ['pending', 'pending_approval', 'approved', 'cancelled', 'absent']) {
      expect(count(status), status).toBeGreaterThan(0)
    }
    for (const row of timesheets) {
      expect(row.approvedDate !== undefined).toBe(['approved', 'cancelled'].includes(row.status))
      if (row.status === 'pending') expect(row.createdAt > '2026-10-10').toBe(true)
      if (row.status === 'absent') expect(row.netHours).toBe(0)
    }
  })

  it('include nights, overtime, weekends, bank holidays, piece work, cost codes and answers', () => {
    for (const bucket of Object.keys(timesheets[0].values.pay)) {
      expect(
        timesheets.some(row => row.values.pay[bucket] > 0),
        bucket,
      ).toBe(true)
    }
    expect(timesheets.some(row => row.pieceRateEntries.length > 0)).toBe(true)
    expect(timesheets.some(row => row.submissionAnswers.length > 0)).toBe(true)
    expect(timesheets.some(row => row.timelogs.some((log: Body) => log.costCodeAllocations.length > 1))).toBe(
      true,
    )
    for (const kind of ['hourly', 'daily']) expect(timesheets.some(row => row.payType === kind)).toBe(true)
  })
})

it('knows the bank holidays of England and Wales', () => {
  const days = (year: number) =>
    Array.from({ length: 366 }, (_, day) => Date.UTC(year, 0, 1 + day))
      .filter(day => new Date(day).getUTCFullYear() === year && calendarDay(day).isBankHoliday)
      .map(day => new Date(day).toISOString().slice(5, 10))
  expect(days(2025)).toEqual(['01-01', '04-18', '04-21', '05-05', '05-26', '08-25', '12-25', '12-26'])
  expect(days(2026)).toEqual(['01-01', '04-03', '04-06', '05-04', '05-25', '08-31', '12-25', '12-28'])
  expect(days(2027)).toEqual(['01-01', '03-26', '03-29', '05-03', '05-31', '08-30', '12-27', '12-28'])
  expect(days(2022)).toEqual(['01-03', '04-15', '04-18', '05-02', '05-30', '08-29', '12-26', '12-27'])
})
