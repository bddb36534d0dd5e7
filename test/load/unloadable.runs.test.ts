/** Pages that cannot be loaded: asked for again once, then their records at fault are in quarantine and the others in star. */
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DiskFull } from '../../src/lib/errors.ts'
import { signal } from '../../src/state/by-id/discovered.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { type OneList, oneList } from '../support/one-list.ts'
import { describeOnEngines, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'
import { wrappedEngine } from '../support/wrapped-engine.ts'
import { heard } from '../sync/by-id.ts'

const request = { resources: ['timesheets'] }
const time = (minute: number) => new Date(Date.UTC(2026, 2, 1) + minute * 60_000).toISOString()

function sheet(index: number, reference = `TS-${index}`): string {
  const at = time(index)
  return JSON.stringify({ id: `t${String(index).padStart(4, '0')}`, reference, createdAt: at, updatedAt: at })
}

const sheets = (count: number, from = 0) => Array.from({ length: count }, (_, index) => sheet(from + index))

/** A control character, which JSON forbids. */
const broken = (index: number): string => sheet(index, 'bad').replace('bad', 'b\u0001d')

const stored = async ({ engine }: Warehouse): Promise<number> =>
  Number((await engine.rows<{ n: number }>('select count(*) as n from star.fact_timesheet'))[0]?.n)

const quarantined = ({ engine }: Warehouse) =>
  engine.rows<{ record_id: string; reason: string; payload: string }>(
    'select record_id, reason, payload from ops.quarantine where resolved_at is null order by record_id',
  )

const scans = ({ engine }: Warehouse) => engine.rows<{ state: string }>(`select distinct state from ops.scan`)

const leftovers = ({ landing }: Warehouse): string[] =>
  readdirSync(landing, { recursive: true, encoding: 'utf8' }).filter(name =>
    /\.(readable|leaves|lost)$/.test(name),
  )

/** Refuses a second timesheet with this reference, for a reason that no check before the engine knows. */
const refusingTwice = (engine: Engine, reference: string): Engine =>
  wrappedEngine(engine, inner => ({
    receive: async transfer => {
      await inner.receive(transfer)
      const [row] = await inner.rows<{ n: number }>(
        `select count(*) as n from star.fact_timesheet where reference = '${reference}'`,
      )
      if (Number(row?.n) > 1) throw new Error('duplicate reference')
    },
  }))

/** Requests for pages of timesheets. */
function counting(list: OneList): () => number {
  let asked = 0
  const { records } = list
  Object.defineProperty(list, 'records', {
    get: () => {
      asked += 1
      return records
    },
  })
  return () => asked
}

describeOnEngines(
  'pages that cannot be loaded',
  bench => {
    test('records that break their batch go to quarantine one by one, and nothing else does', async () => {
      const warehouse = await bench.warehouse()
      const list = await oneList('/timesheets', [sheet(0, 'taken')])
      expect((await syncOnce(list, warehouse, { request })).failure).toBeUndefined()
      const effects = { engine: refusingTwice(warehouse.engine, 'taken') }
      const bad = [57, 58, 230].map(index => sheet(index, 'taken'))
      const all = sheets(250).map(
        (text, index) => bad.find(one => one.includes(`"t${String(index).padStart(4, '0')}"`)) ?? text,
      )
      list.records = [sheet(0, 'taken'), ...all.slice(1)]
      const { failure, resources } = await syncOnce(list, warehouse, { request, effects })
      expect(failure).toBeUndefined()
      expect(await stored(warehouse)).toBe(247)
      const found = await quarantined(warehouse)
      expect(found.map(({ record_id: id }) => id)).toEqual(['t0057', 't0058', 't0230'])
      expect(found.map(({ payload }) => payload).sort()).toEqual([...bad].sort())
      for (const { reason } of found) expect(reason).toMatch(/^cannot be loaded: .*(unique|duplicate)/i)
      expect(await scans(warehouse)).toEqual([{ state: 'accepted' }])
      // Two pages, both again, and a few to see where the list ends.
      expect(resources[0]?.requests).toBeLessThanOrEqual(9)
      const next = await syncOnce(list, warehouse, { request, effects })
      expect(next.failure).toBeUndefined()
      expect(next.resources[0]?.requests).toBeGreaterThan(0)
      expect(leftovers(warehouse)).toEqual([])
    })

    test('a page with a record that is no JSON loses that record only', async () => {
      const warehouse = await bench.warehouse()
      const list = await oneList('/timesheets', [...sheets(250), broken(250), ...sheets(249, 251)])
      const count = counting(list)
      const first = await syncOnce(list, warehouse, { request })
      expect(first.failure).toBeUndefined()
      expect(await stored(warehouse)).toBe(499)
      expect(await quarantined(warehouse)).toMatchObject([
        { record_id: 't0250', reason: 'not JSON', payload: broken(250) },
      ])
      expect(await scans(warehouse)).toEqual([{ state: 'accepted' }])
      // A record without times counts when it was seen twice.
      expect(count()).toBeLessThanOrEqual(18)
    })

    test('also in a scan of changes, whose pages are looked into', async () => {
      const warehouse = await bench.warehouse()
      const list = await oneList('/timesheets', sheets(10))
      await syncOnce(list, warehouse, { request })
      list.records = [...sheets(10), broken(10), sheet(11)]
      const { failure } = await syncOnce(list, warehouse, { request })
      expect(failure).toBeUndefined()
      expect(await stored(warehouse)).toBe(11)
      expect(await quarantined(warehouse)).toMatchObject([{ record_id: 't0010' }])
      const mended = sheets(12)
      list.records = mended
      await syncOnce(list, warehouse, { request })
      expect(await stored(warehouse)).toBe(12)
      expect(await quarantined(warehouse)).toEqual([])
    })

    test('what is not the fault of a record sends none to quarantine', async () => {
      const warehouse = await bench.warehouse()
      const list = await oneList('/timesheets', sheets(30))
      const failures: readonly Error[] = [
        new DiskFull({ what: 'the disk is full', next: 'free some space' }),
        new Error('IO Error: could not write'),
        Object.assign(new Error('terminating connection'), { code: '57P01' }),
        Object.assign(new Error('no space'), { code: 'ENOSPC', errno: -28 }),
        // Also without a record the load fails: something else is wrong.
        new Error('whatever it is'),
      ]
      for (const planted of failures) {
        const failing = wrappedEngine(warehouse.engine, () => ({
          merge: async () => {
            throw planted
          },
        }))
        const { failure } = await syncOnce(list, { ...warehouse, engine: failing }, { request })
        expect(failure?.message).toContain(planted.message)
        expect(await quarantined(warehouse)).toEqual([])
      }
      expect((await syncOnce(list, warehouse, { request })).failure).toBeUndefined()
      expect(await stored(warehouse)).toBe(30)
    })
  },
  'postgres',
)

/** An engine that fails to hash a batch with such a row, as an error of its own would. */
const refusing = (engine: Engine, row: string): Engine =>
  wrappedEngine(engine, inner => ({
    async run(sql, values) {
      const isStaged = sql.startsWith('create or replace temp table stage_record')
      if (isStaged && (await inner.rows(`select 1 from stage.stage_0 where ${row}`)).length > 0)
        throw new Error('planted: a row that no check knows')
      return inner.run(sql, values)
    },
  }))

describeOnEngines('records and snapshots that cannot be loaded', bench => {
  test('a record that is read by id is asked for again once, and the others load', async () => {
    const warehouse = await bench.warehouse()
    const trades = Array.from({ length: 5 }, (_, index) => ({ id: `t${index}`, name: `Trade ${index}` }))
    const asked: string[] = []
    const sandbox = await openSandbox({
      records: {},
      intercept: ({ path }) => {
        if (!path.startsWith('/trades/')) return undefined
        asked.push(path)
        const data = trades.find(({ id }) => path.endsWith(id))
        return { status: 200, body: JSON.stringify({ success: true, data }) }
      },
    })
    await syncOnce(sandbox, warehouse, { request: { resources: ['key'] } })
    await signal(
      warehouse.engine,
      trades.map(({ id }) => heard('trades', id)),
    )
    const engine = refusing(warehouse.engine, `trade_id = 't3'`)
    const { failure } = await syncOnce(
      sandbox,
      { ...warehouse, engine },
      { request: { resources: ['trades'] } },
    )
    expect(failure).toBeUndefined()
    const held = await warehouse.engine.rows(
      `select trade_id as id from star.dim_trade where not is_inferred and trade_id <> '-1' order by 1`,
    )
    expect(held).toEqual(['t0', 't1', 't2', 't4'].map(id => ({ id })))
    expect(await quarantined(warehouse)).toMatchObject([
      { record_id: 't3', reason: 'cannot be loaded: planted: a row that no check knows' },
    ])
    expect(asked.filter(path => path.endsWith('t3'))).toHaveLength(2)
    expect(asked).toHaveLength(6)
  })

  test('a snapshot loads without its record, and removes nothing meanwhile', async () => {
    const warehouse = await bench.warehouse()
    const rows = ['R-1', 'R-2', 'R-3'].map(reqRef => ({
      reqRef,
      reqCreated: '01/03/2026',
      timeToOfferDays: 3,
    }))
    const list = await oneList('/requisitions/recruitment-metrics', rows)
    const clock = { now: () => Date.UTC(2026, 2, 2), sleep: async () => undefined }
    const only = { request: { resources: ['metric-rows'] }, effects: { clock } }
    expect((await syncOnce(list, warehouse, only)).failure).toBeUndefined()
    const changed = [
      { ...rows[0], timeToOfferDays: 9 },
      { ...rows[1], timeToOfferDays: 9 },
    ]
    list.records = changed.map(row => JSON.stringify(row))
    const engine = refusing(warehouse.engine, `requisition_reference = 'R-2' and time_to_offer_days = 9`)
    const later = { ...only, effects: { clock: { ...clock, now: () => Date.UTC(2026, 2, 3) } } }
    expect((await syncOnce(list, { ...warehouse, engine }, later)).failure).toBeUndefined()
    expect(await quarantined(warehouse)).toMatchObject([{ payload: JSON.stringify(changed[1]) }])
    const held = await warehouse.engine.rows<{ ref: string; days: number | string }>(
      'select requisition_reference as ref, time_to_offer_days as days from star.fact_recruitment_metric_row where not is_deleted order by 1',
    )
    expect(held.map(({ ref, days }) => [ref, Number(days)])).toEqual([
      ['R-1', 9],
      ['R-2', 3],
      ['R-3', 3],
    ])
  })
})
