/** Quarantined records that are mended at the source under the same time of change leave quarantine: one request a day. */
import { expect, test } from 'vitest'
import { signal } from '../../src/state/by-id/discovered.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, type Overrides, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'
import { heard } from './by-id.ts'
import { openSwept } from './sweeping.ts'

const start = Date.UTC(2026, 2, 1)
const dayMs = 86_400_000
/** 40 records a day. */
const created = (index: number) =>
  new Date(start + Math.floor(index / 40) * dayMs + (index % 40) * 60_000).toISOString()

const sheet = (index: number, netHours: unknown = 1) => ({
  id: `t${String(index).padStart(4, '0')}`,
  netHours,
  createdAt: created(index),
  updatedAt: created(index),
})

const open = async ({ engine }: Warehouse): Promise<string[]> =>
  (
    await engine.rows<{ id: string }>(
      'select record_id as id from ops.quarantine where resolved_at is null order by 1',
    )
  ).map(({ id }) => id)

describeOnEngines('repaired records', bench => {
  test('of a list are found by their created day', async () => {
    const warehouse = await bench.warehouse()
    const bad = [50, 51, 90, 130]
    const timesheets = Array.from({ length: 400 }, (_, index) =>
      sheet(index, bad.includes(index) ? 'many' : 1),
    )
    const sandbox = await openSandbox({
      records: { timesheets },
      rateLimitPerMinute: 100_000,
      rateLimitPerDay: 1_000_000,
    })
    let day = 30
    let runs = 0
    const clock = { now: () => start + day * dayMs + runs * 60_000, sleep: async () => undefined }
    const request = { resources: ['key', 'timesheets'] }
    const sync = async () => {
      runs += 1
      const outcome = await syncOnce(sandbox, warehouse, { request, effects: { clock } })
      expect(outcome.failure).toBeUndefined()
      return outcome.resources.find(({ resource }) => resource === 'timesheets')!.requests
    }
    await sync()
    expect(await open(warehouse)).toEqual(bad.map(index => sheet(index).id))
    day += 1
    // Nothing is mended: one request all the same, and none again on the same day.
    const withLook = await sync()
    expect(await open(warehouse)).toHaveLength(4)
    expect(await sync()).toBe(withLook - 1)
    for (const index of bad) sandbox.world.upsert('timesheets', sheet(index))
    const left: number[] = []
    for (let night = 0; night < 4; night += 1) {
      day += 1
      const requests = await sync()
      expect(requests).toBeLessThanOrEqual(withLook)
      left.push((await open(warehouse)).length)
    }
    expect(left.at(-1)).toBe(0)
    expect(await sync()).toBe(withLook - 1)
    const [count] = await warehouse.engine.rows<{ n: number }>(
      'select count(*) as n from star.fact_timesheet',
    )
    expect(Number(count?.n)).toBe(400)
  })

  test('without a list are read by their id', async () => {
    const warehouse = await bench.warehouse()
    const asked: string[] = []
    let isMended = false
    const sandbox = await openSandbox({
      records: {},
      intercept: ({ path }) => {
        if (!path.startsWith('/trades/')) return undefined
        asked.push(path)
        const data = {
          id: path.slice('/trades/'.length),
          name: 'a',
          updatedAt: isMended ? created(0) : 'never',
        }
        return { status: 200, body: JSON.stringify({ success: true, data }) }
      },
    })
    let day = 30
    let runs = 0
    const clock = { now: () => start + day * dayMs + runs * 60_000, sleep: async () => undefined }
    const sync = () => {
      runs += 1
      return syncOnce(sandbox, warehouse, { request: { resources: ['key', 'trades'] }, effects: { clock } })
    }
    await sync()
    await signal(
      warehouse.engine,
      ['t1', 't2'].map(id => heard('trades', id, new Date(start).toISOString())),
    )
    await sync()
    expect(await open(warehouse)).toEqual(['t1', 't2'])
    isMended = true
    asked.length = 0
    day += 1
    await sync()
    await sync()
    // The refresh policy may fetch others; this one is asked for once a day.
    expect(asked.filter(path => path === '/trades/t1')).toHaveLength(1)
    expect(await open(warehouse)).not.toContain('t1')
    day += 1
    await sync()
    expect(await open(warehouse)).toEqual([])
  })

  test('of a list that are deleted at the source leave with the next sweep of their scope, and come back when seen', async () => {
    const warehouse = await bench.warehouse()
    const bad = new Set([7, 8])
    const sheets = Array.from({ length: 30 }, (_, index) => sheet(index, bad.has(index) ? 'many' : 1))
    const timesheets = sheets.map((one, index) => ({ ...one, companyId: index === 8 ? 'other' : 'c1' }))
    const swept = await openSwept({ records: { timesheets } })
    let runs = 0
    const clock = { now: () => start + 30 * dayMs + runs * 3_600_000, sleep: async () => undefined }
    const again = <Outcome>(run: (warehouse: Warehouse, overrides: Overrides) => Promise<Outcome>) => {
      runs += 1
      return run(warehouse, { effects: { clock } })
    }
    await again(swept.sync)
    await again(swept.sweep)
    expect(await open(warehouse)).toEqual(['t0007', 't0008'])
    for (const id of ['t0007', 't0008']) swept.world.remove('timesheets', id)
    swept.allow({ companies: ['c1'] })
    await again(swept.sync)
    await again(swept.sweep)
    // A key that sees less says nothing of what another one has shown.
    expect(await open(warehouse)).toEqual(['t0007', 't0008'])
    swept.allow({ companies: 'all' })
    await again(swept.sync)
    await again(swept.sweep)
    expect(await open(warehouse)).toEqual([])
    swept.world.upsert('timesheets', { ...sheet(8, 'many'), updatedAt: new Date(clock.now()).toISOString() })
    await again(swept.sync)
    expect(await open(warehouse)).toEqual(['t0008'])
  })

  test('without a list that are deleted at the source leave when they are asked for', async () => {
    const warehouse = await bench.warehouse()
    let isGone = false
    const sandbox = await openSandbox({
      records: {},
      intercept: ({ path }) => {
        if (!path.startsWith('/trades/')) return undefined
        if (isGone)
          return { status: 404, body: '{"success":false,"error":{"code":"NOT_FOUND","message":"no"}}' }
        const data = { id: path.slice('/trades/'.length), name: 'a', updatedAt: 'never' }
        return { status: 200, body: JSON.stringify({ success: true, data }) }
      },
    })
    let day = 30
    let runs = 0
    const clock = { now: () => start + day * dayMs + runs * 60_000, sleep: async () => undefined }
    const sync = () => {
      runs += 1
      return syncOnce(sandbox, warehouse, { request: { resources: ['key', 'trades'] }, effects: { clock } })
    }
    await sync()
    await signal(warehouse.engine, [heard('trades', 't1', new Date(start).toISOString())])
    await sync()
    expect(await open(warehouse)).toEqual(['t1'])
    isGone = true
    day += 1
    await sync()
    expect(await open(warehouse)).toEqual([])
  })
})
