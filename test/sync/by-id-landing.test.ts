/** Records by id that landed before a run ended, or before a newer one came. */
import { expect, test } from 'vitest'
import { replay } from '../../src/app/rebuild/replay.ts'
import { findResource } from '../../src/contract/catalogue.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import { targetsOf } from '../../src/load/merge/targets.ts'
import { defaultLimits } from '../../src/load/page/record-limits.ts'
import { stagePlan } from '../../src/load/read/plan.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { thorough } from '../support/long-suite.ts'
import { readById } from '../support/records-by-id.ts'
import { tables } from '../support/warehouse-dump.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'
import { byId, byIdNames, roomy } from './by-id.ts'

/** As if the records had never been loaded: their rows and all below them. */
async function forgetRecords(engine: Engine, resource: Resource): Promise<void> {
  const { table } = resource
  const records = `(select ${table.key} as record_key from star.${table.name}) d`
  for (const target of targetsOf(stagePlan(resource)).reverse())
    await engine.run(
      `delete from ${target.schema}.${target.name} as t using ${records} where ${target.ownedBy}`,
    )
}

describeOnEngines('records by id that landed', bench => {
  test.runIf(thorough)('a run that ends early goes on in the next, within its requests', async () => {
    const sandbox = await openSandbox(roomy)
    const warehouse = await bench.warehouse()
    const lists = { resources: ['key', 'timesheets'] }
    await syncOnce(sandbox, warehouse, { request: lists })
    const request = { resources: ['assignments', 'requisitions', 'trades'], limits: { maxRequests: 9 } }
    let runs = 0
    for (let isLeft = true; isLeft; runs += 1) {
      const { failure, requests } = await syncOnce(sandbox, warehouse, { request })
      expect(requests).toBeLessThanOrEqual(9)
      if (failure)
        expect(failure).toMatchObject({ exitCode: 75, message: expect.stringContaining('never fetched') })
      isLeft = failure !== undefined
    }
    expect(runs).toBeGreaterThan(2)
    const asked = byId(sandbox.requests)
    expect(new Set(asked).size).toBe(asked.length)
  })

  test.runIf(thorough)(
    'what a killed run landed is loaded by the next, and replayed, without a request',
    async () => {
      const sandbox = await openSandbox(roomy)
      const warehouse = await bench.warehouse()
      const { engine } = warehouse
      await syncOnce(sandbox, warehouse, { request: { resources: ['timesheets', ...byIdNames] } })
      const whole = await tables(engine)
      await engine.run(`update ops.scan set state = 'scanning', loaded_sequence = 3 where kind = 'by id'`)
      await engine.run(`update ops.scan set loaded_sequence = 0 where resource = 'assignments'`)
      for (const name of ['requisitions', 'assignments']) await forgetRecords(engine, findResource(name)!)
      await engine.run(
        `update ops.discovered set state = 'never fetched', fetches = 0, last_fetched_at = null
         where resource in ('requisitions', 'assignments')`,
      )
      // What only these name is found when they are loaded.
      const [named] = byId(sandbox.requests).filter(path => path.startsWith('/requisitions/'))
      await engine.run(`delete from ops.discovered where resource = 'rates' or record_id = $1`, [
        named?.split('/')[2] ?? '',
      ])
      const before = sandbox.requests.length
      expect(
        (await syncOnce(sandbox, warehouse, { request: { resources: byIdNames } })).failure,
      ).toBeUndefined()
      const asked = byId(sandbox.requests.slice(before))
      // The ledger says that three were loaded: those are what it has to ask for again, and what it found anew.
      expect(new Set(asked.map(path => path.split('/')[1]))).toEqual(new Set(['requisitions']))
      expect(asked).toContain(named)
      expect(asked.length).toBeLessThanOrEqual(4)
      const held = await tables(engine)
      for (const name of ['star.fact_requisition', 'star.fact_assignment'])
        expect(held[name]).toEqual(whole[name])

      const empty = await bench.warehouse()
      const replayed = await replay(
        empty.engine,
        { root: warehouse.landing, limits: defaultLimits },
        () => undefined,
      )
      expect(replayed.quarantined).toBe(0)
      const current = Object.entries(await tables(empty.engine)).filter(
        ([name]) => !name.startsWith('history.'),
      )
      for (const [name, rows] of current) expect({ name, rows }).toEqual({ name, rows: whole[name] })
    },
  )

  test('a page read before an event never overwrites what the event brought', async () => {
    let onPage = async (): Promise<void> => undefined
    const sandbox = await openSandbox({
      ...roomy,
      onRequest: async ({ path, query }) => {
        if (path === '/expenses' && query.limit === '200') await onPage()
      },
    })
    const warehouse = await bench.warehouse()
    await syncOnce(sandbox, warehouse, { request: { resources: ['expenses'] } })
    const [expense] = sandbox.world.all('expenses')
    const changed = (status: string, updatedAt: string) =>
      sandbox.world.upsert('expenses', { ...expense, id: String(expense?.id), status, updatedAt })
    changed('rejected', '2026-11-02T12:00:00.000Z')
    // The scan holds its page when the record changes again and is read by its id.
    const newer = { ...expense, status: 'approved', updatedAt: '2026-11-02T13:00:00.000Z' }
    onPage = async () => {
      onPage = async () => undefined
      await readById(warehouse, findResource('expenses') as Resource, [newer])
    }
    const { failure } = await syncOnce(sandbox, warehouse, { request: { resources: ['expenses'] } })
    expect(failure).toBeUndefined()
    const rows = await warehouse.engine.rows('select status from star.fact_expense where expense_id = $1', [
      String(expense?.id),
    ])
    expect(rows).toEqual([{ status: 'approved' }])
  })
})
