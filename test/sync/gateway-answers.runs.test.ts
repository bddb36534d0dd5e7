/** Something between this machine and the service answers in its place: a failure, and evidence of nothing. */
import { expect, test } from 'vitest'
import { requireCompleteSources } from '../../src/publish/publish.ts'
import { signal } from '../../src/state/by-id/discovered.ts'
import { incompleteResources } from '../../src/state/scans/completeness.ts'
import type { RunResult } from '../../src/sync/run/run.ts'
import type { Interception } from '../fault-layer/layer.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'
import { heard, movedClock, roomy } from './by-id.ts'
import { plainRecords } from './plain-records.ts'
import { openSwept } from './sweeping.ts'

const login = '<!doctype html><title>Sign in</title><form>Password</form>'
const forbidden = '{"message":"Forbidden"}'
const portal = { location: 'https://portal.example/login' }

const gateways: readonly (readonly [string, Exclude<Interception, undefined | string>])[] = [
  ['403 with HTML', { status: 403, body: login }],
  ['200 with HTML', { status: 200, body: login }],
  ['302 to a portal', { status: 302, headers: portal, body: '' }],
  ['404 with other JSON', { status: 404, body: forbidden }],
  ['401 with other JSON', { status: 401, body: forbidden }],
]

const stateOf = ({ resources, failure }: RunResult) => [resources[0]?.state, failure?.exitCode ?? 0]
const count = async ({ engine }: Warehouse, table: string) =>
  Number((await engine.rows<{ n: unknown }>(`select count(*) as n from ${table}`))[0]?.n)

describeOnEngines('a gateway that answers instead of the service', bench => {
  test.each(gateways)('with %s on a first load: the list counts as never read', async (_name, answer) => {
    const closed = new Set(['/timesheets'])
    const sandbox = await openSandbox({
      records: plainRecords({ timesheets: 5 }),
      ...roomy,
      intercept: ({ path }) => (closed.has(path) ? answer : undefined),
    })
    const warehouse = await bench.warehouse()
    const sync = () => syncOnce(sandbox, warehouse, { request: { resources: ['timesheets'] } })
    for (let run = 0; run < 2; run += 1) {
      const outcome = await sync()
      expect(stateOf(outcome)).toEqual(['failed', 1])
      expect(outcome.failure?.message).toMatch(/does not come from the service: .*open baseUrl/)
    }
    expect(await count(warehouse, 'ops.key_access')).toBe(0)
    expect((await incompleteResources(warehouse.engine))?.map(({ resource }) => resource)).toContain(
      'timesheets',
    )
    await expect(requireCompleteSources(warehouse.engine)).rejects.toThrow(
      /would be incomplete: timesheets \(/,
    )
    closed.clear()
    expect(stateOf(await sync())).toEqual(['done', 0])
    expect(await incompleteResources(warehouse.engine)).toEqual([])
  })

  test.each(gateways)(
    'with %s to reads by id: nothing is missing, refused or hidden',
    async (_name, answer) => {
      const sandbox = await openSandbox({
        ...roomy,
        records: { creditNotes: [{ id: 'c1', reference: 'one' }] },
        intercept: ({ path }) => (path === '/credit-notes/c1' ? answer : undefined),
      })
      const warehouse = await bench.warehouse()
      await signal(warehouse.engine, [heard('credit-notes', 'c1')])
      await syncOnce(sandbox, warehouse, {
        request: { resources: ['credit-notes'] },
        effects: { clock: movedClock() },
      })
      const [known] = await warehouse.engine.rows('select state, failed_fetches from ops.discovered')
      expect(known).toMatchObject({ state: 'never fetched' })
      expect(await count(warehouse, 'ops.key_access')).toBe(0)
      expect(await count(warehouse, 'ops.evidence')).toBe(0)
    },
  )

  test('with 404 to the ids that a sweep did not see: no record is deleted', async () => {
    let isClosed = false
    const service = await openSwept({
      records: plainRecords({ expenses: 30 }),
      intercept: ({ path }) =>
        isClosed && path === '/expenses/e3' ? { status: 404, body: login } : undefined,
    })
    const warehouse = await bench.warehouse()
    await service.sync(warehouse)
    service.world.remove('expenses', 'e3')
    isClosed = true
    await service.sweep(warehouse, { request: { resources: ['expenses'] } })
    const evidence = await warehouse.engine.rows(
      `select record_id from ops.evidence where kind = 'by-id 404'`,
    )
    expect(evidence).toEqual([])
    expect(await count(warehouse, 'ops.deletion')).toBe(0)
  })
})
