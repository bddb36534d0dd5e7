/** The first reading of a large collection: windows by created date, resumable, proved complete, with one watermark at the end. */
import { expect, test } from 'vitest'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { thorough } from '../support/long-suite.ts'
import { describeOnEngines, rowsTouched, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'
import { wrappedEngine } from '../support/wrapped-engine.ts'
import { plainRecords, timeOf } from './plain-records.ts'

const roomy = { rateLimitPerMinute: 100_000, rateLimitPerDay: 1_000_000 }
const total = 10_400
/** 45 minutes apart: about a year of records. */
const records = plainRecords({ timesheets: total }, { minutesApart: 45 })
/** With the key, whose limits the next run within the minute then knows. */
const request = { resources: ['key', 'timesheets'] }

interface WindowRow {
  readonly from_day: string | null
  readonly to_day: string | null
  readonly state: string
}

const windowsOf = (engine: Engine) =>
  engine.rows<WindowRow>(
    `select from_day, to_day, state from ops.scan where kind = 'backfill' order by scan_id`,
  )

async function watermarkOf({ engine }: Warehouse): Promise<string | null> {
  const [row] = await engine.rows<{ watermark: string | null }>(
    `select watermark from ops.watermark where resource = 'timesheets'`,
  )
  return row?.watermark ?? null
}

async function held({ engine }: Warehouse): Promise<number> {
  const [row] = await engine.rows<{ n: number }>('select count(*) as n from star.fact_timesheet')
  return Number(row?.n)
}

describeOnEngines('backfill', bench => {
  test.runIf(thorough)(
    'a window that cannot be written down ends the reading with the reason, and the next run goes on',
    async () => {
      const sandbox = await openSandbox({ records, ...roomy })
      const warehouse = await bench.warehouse()
      const { engine } = warehouse
      let windows = 0
      const narrow = wrappedEngine(engine, inner => ({
        async rows(sql, values) {
          const isWindow = /^insert into "ops"."scan"/.test(sql) && values?.includes('backfill')
          if (isWindow) windows += 1
          if (isWindow && windows === 2) throw new Error('no room for another window')
          return inner.rows(sql, values)
        },
      }))
      const failed = await syncOnce(sandbox, { ...warehouse, engine: narrow }, { request })
      expect(windows).toBe(2)
      expect(String(failed.resources.find(({ resource }) => resource === 'timesheets')?.error)).toMatch(
        /no room/,
      )
      await syncOnce(sandbox, warehouse, { request })
      expect(await held(warehouse)).toBe(total)
    },
  )

  test('reads a large collection in windows while it changes, and then only what changed', async () => {
    let asked = 0
    const sandbox = await openSandbox({
      records,
      ...roomy,
      onRequest: ({ path }) => {
        if (path !== '/timesheets') return
        asked += 1
        const at = timeOf(total + asked, { minutesApart: 45 })
        const moved = sandbox.world.at('timesheets', (asked * 0.37) % 1)!
        sandbox.world.upsert('timesheets', { ...moved, status: 'approved', updatedAt: at })
      },
    })
    const warehouse = await bench.warehouse()
    const first = await syncOnce(sandbox, warehouse, { request })
    expect(first.failure).toBeUndefined()
    const windows = await windowsOf(warehouse.engine)
    expect(windows.length).toBeGreaterThan(1)
    expect(new Set(windows.map(({ state }) => state))).toEqual(new Set(['accepted']))
    expect(windows.at(-1)!.from_day).toBeNull()
    const watermark = await watermarkOf(warehouse)
    expect(watermark).not.toBeNull()
    await syncOnce(sandbox, warehouse, { request })
    const rested = sandbox.world.all('timesheets').map(row => `${row.id} ${row.status} ${row.updatedAt}`)
    const frozen = await openSandbox({
      records: { ...records, timesheets: sandbox.world.all('timesheets') },
      ...roomy,
    })
    await syncOnce(frozen, warehouse, { request })
    const rows = await warehouse.engine.rows<Record<string, string>>(
      'select timesheet_id, status, updated_at from star.fact_timesheet',
    )
    const copies = new Set(rows.map(row => Object.values(row).join(' ')))
    expect(rested.filter(row => !copies.has(row))).toEqual([])
    expect(copies.size).toBe(rested.length)
    expect(rowsTouched(await syncOnce(frozen, warehouse, { request }))).toBe(0)
    expect(sandbox.violations()).toEqual([])
  }, 60_000)

  test('is resumed window by window and page by page', async () => {
    const sandbox = await openSandbox({ records, ...roomy })
    const warehouse = await bench.warehouse()
    let runs = 0
    for (let stopped = true; stopped; runs += 1) {
      expect(await watermarkOf(warehouse)).toBeNull()
      const limits = { maxRequests: 24 }
      stopped =
        (await syncOnce(sandbox, warehouse, { request: { ...request, limits } })).failure !== undefined
      if (runs > 10) throw new Error('the backfill does not end')
    }
    expect(runs).toBeGreaterThan(2)
    expect(await watermarkOf(warehouse)).toBe(timeOf(total - 1, { minutesApart: 45 }))
    expect(await held(warehouse)).toBe(total)
    const pages = sandbox.requests.filter(({ query }) => query.limit === '200' && query.page !== '1')
    const names = pages.map(({ query }) => JSON.stringify(query))
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  }, 60_000)

  test.runIf(thorough)(
    'a window that never settles is refused, and the watermark stays until it is read completely',
    async () => {
      // Page 2 of the oldest window shows what page 1 shows, so half of its rows are never seen.
      let isTorn = true
      const sandbox = await openSandbox({
        records,
        ...roomy,
        intercept: async ({ query }) => {
          if (!isTorn || query.limit !== '200' || query.from !== undefined || query.page !== '2')
            return undefined
          const asked = new URLSearchParams({ ...(query as Record<string, string>) })
          const url = `${sandbox.url}/timesheets?${asked.toString().replace('page=2', 'page=1')}`
          const answer = await fetch(url, { headers: { authorization: 'Bearer sandbox-company-key' } })
          const body = (await answer.json()) as { meta: { page: number } }
          body.meta.page = 2
          return { status: 200, body: JSON.stringify(body) }
        },
      })
      const warehouse = await bench.warehouse()
      const torn = await syncOnce(sandbox, warehouse, { request })
      const states = (await windowsOf(warehouse.engine)).map(({ state }) => state)
      expect(states.filter(state => state === 'refused')).toHaveLength(1)
      expect(await watermarkOf(warehouse)).toBeNull()
      expect(await held(warehouse)).toBeLessThan(total)
      expect(torn.failure).toMatchObject({ name: 'Incomplete', exitCode: 1 })
      expect(torn.resources.find(({ resource }) => resource === 'timesheets')).toMatchObject({
        state: 'incomplete',
        note: expect.stringContaining('passes'),
      })
      isTorn = false
      const repaired = await syncOnce(sandbox, warehouse, { request })
      expect(repaired.failure).toBeUndefined()
      expect(await held(warehouse)).toBe(total)
      expect(await watermarkOf(warehouse)).toBe(timeOf(total - 1, { minutesApart: 45 }))
      expect(rowsTouched(await syncOnce(sandbox, warehouse, { request }))).toBe(0)
    },
    60_000,
  )
})
