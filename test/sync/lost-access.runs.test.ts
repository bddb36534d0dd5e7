/** A list that was readable is refused: a failure, until it is readable again or the caller has accepted it. */
import { expect, test } from 'vitest'
import { accessRules } from '../../src/contract/resources/access-rules.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { resourceState } from '../../src/state/runs/resource-state.ts'
import { incompleteResources } from '../../src/state/scans/completeness.ts'
import type { RunResult } from '../../src/sync/run/run.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'
import { plainRecords } from './plain-records.ts'

const no = { status: 403, body: '{"success":false,"error":{"code":"FORBIDDEN","message":"no"}}' }
const stateOf = ({ resources, failure }: RunResult, name = 'invoices') => [
  resources.find(({ resource }) => resource === name)?.state,
  failure?.exitCode ?? 0,
]
const access = async ({ engine }: Warehouse) =>
  (
    await engine.rows<{ state: string }>(
      `select state from ops.key_access where resource <> 'key' order by resource`,
    )
  ).map(({ state }) => state)

describeOnEngines('a list that the key may no longer read', bench => {
  test('is a failure that stays until it is readable again or accepted; one that never was readable is skipped', async () => {
    const refused = new Set<string>(['/expenses'])
    const sandbox = await openSandbox({
      records: plainRecords({ invoices: 30, expenses: 3, timesheets: 5 }),
      intercept: ({ path }) => (refused.has(path) ? no : undefined),
    })
    const warehouse = await bench.warehouse()
    const sync = (more = {}) =>
      syncOnce(sandbox, warehouse, {
        request: { resources: ['key', 'timesheets', 'expenses', 'invoices'], ...more },
      })
    const first = await sync()
    expect([stateOf(first), stateOf(first, 'expenses')]).toEqual([
      ['done', 0],
      ['skipped', 0],
    ])
    refused.add('/invoices')
    for (let run = 0; run < 2; run += 1) {
      const lost = await sync()
      expect(stateOf(lost)).toEqual(['failed', 1])
      expect(stateOf(lost, 'timesheets')[0]).toBe('done')
      expect(lost.failure?.message).toMatch(
        /^invoices failed: the key may no longer read invoices \(GET \/invoices.*403 FORBIDDEN "no"\): .*muster sync invoices --accept-refused/,
      )
      expect(await access(warehouse)).toEqual(['refused', 'no longer readable', 'readable'])
      expect(await incompleteResources(warehouse.engine)).toContainEqual({
        resource: 'invoices',
        reason: 'the key may no longer read it',
        seen: null,
        expected: null,
      })
    }
    const [run] = await warehouse.engine.rows<{ state: string }>(
      'select state from ops.run order by run_id desc limit 1',
    )
    expect(run?.state).toBe('failed')
    refused.delete('/invoices')
    expect(stateOf(await sync())).toEqual(['done', 0])
    expect(await incompleteResources(warehouse.engine)).toEqual([])
    refused.add('/invoices')
    expect(stateOf(await sync())).toEqual(['failed', 1])
    expect(stateOf(await sync({ acceptsRefused: true }))).toEqual(['skipped', 0])
    expect(stateOf(await sync())).toEqual(['skipped', 0])
    expect(await incompleteResources(warehouse.engine)).toEqual([])
  }, 60_000)

  test('is a failure after a run that loaded pages of it and died', async () => {
    const refused = new Set<string>(['/expenses'])
    const sandbox = await openSandbox({
      records: plainRecords({ invoices: 650, expenses: 3 }),
      intercept: ({ path }) => (refused.has(path) ? no : undefined),
    })
    const warehouse = await bench.warehouse()
    const request = { resources: ['key', 'invoices', 'expenses'] }
    await syncOnce(sandbox, warehouse, { request: { ...request, limits: { maxRequests: 5 } } })
    const rows = 'select count(*) as n from star.fact_invoice'
    expect(Number((await warehouse.engine.rows<{ n: unknown }>(rows))[0]?.n)).toBeGreaterThan(0)
    // Access is recorded at the end of a run.
    await warehouse.engine.run('delete from ops.key_access')
    refused.add('/invoices')
    const next = await syncOnce(sandbox, warehouse, { request })
    expect(stateOf(next)).toEqual(['failed', 1])
    expect(stateOf(next, 'expenses')[0]).toBe('skipped')
    expect(await access(warehouse)).toEqual(['refused', 'no longer readable'])
  }, 60_000)

  test('after an answer that could not be used is a failure, whichever run got that answer', async () => {
    let answer = { status: 200, body: '{"success":true,"data":[],"meta":{"total":"many"}}' }
    const sandbox = await openSandbox({
      records: plainRecords({ invoices: 30 }),
      intercept: ({ path }) => (path === '/invoices' ? answer : undefined),
    })
    const warehouse = await bench.warehouse()
    const request = { resources: ['invoices'] }
    expect(stateOf(await syncOnce(sandbox, warehouse, { request }))).toEqual(['failed', 1])
    answer = no
    for (let run = 0; run < 2; run += 1)
      expect(stateOf(await syncOnce(sandbox, warehouse, { request }))).toEqual(['failed', 1])
  })

  test('in the middle of its first reading is a failure, too', async () => {
    const sandbox = await openSandbox({
      records: plainRecords({ invoices: 650 }),
      quirks: { invoices: { 'forbidden-after': 3 } },
    })
    const warehouse = await bench.warehouse()
    const request = { resources: ['invoices'] }
    for (let run = 0; run < 2; run += 1)
      expect(stateOf(await syncOnce(sandbox, warehouse, { request }))).toEqual(['failed', 1])
    sandbox.setQuirks()
    expect(stateOf(await syncOnce(sandbox, warehouse, { request }))).toEqual(['done', 0])
  }, 60_000)

  test('after an answer that could not be used is a failure, too', async () => {
    const sandbox = await openSandbox({
      records: plainRecords({ invoices: 30 }),
      quirks: { invoices: { 'forbidden-after': 3, total: 'missing' } },
    })
    const warehouse = await bench.warehouse()
    const outcome = await syncOnce(sandbox, warehouse, { request: { resources: ['invoices'] } })
    expect(stateOf(outcome)).toEqual(['failed', 1])
    expect(outcome.failure?.message).toMatch(/and then refused/)
    expect(await incompleteResources(warehouse.engine)).toHaveLength(1)
  }, 60_000)

  test('of one company counts as well', async () => {
    const sandbox = await openSandbox({
      records: {
        companies: [
          { id: 'c1', name: 'One' },
          { id: 'c2', name: 'Two' },
        ],
      },
      intercept: ({ path }) => (path === refused ? { ...no, status } : undefined),
    })
    let refused = ''
    let status = 404
    const warehouse = await bench.warehouse()
    const sync = (more = {}) =>
      syncOnce(sandbox, warehouse, { request: { resources: ['key', 'user-assignments'], ...more } })
    expect(stateOf(await sync(), 'user-assignments')).toEqual(['done', 0])
    refused = '/companies/c1/user-assignments'
    // What answers 404 may be deleted.
    expect(stateOf(await sync(), 'user-assignments')).toEqual(['done', 0])
    status = 403
    const lost = await sync()
    expect(stateOf(lost, 'user-assignments')).toEqual(['failed', 1])
    expect(lost.failure?.message).toContain('user-assignments for 1 of 2 scopes')
    expect(stateOf(await sync({ acceptsRefused: true }), 'user-assignments')).toEqual(['done', 0])
    expect(stateOf(await sync(), 'user-assignments')).toEqual(['done', 0])
  }, 60_000)

  test('is one although keys of another kind, which cannot read it, sync between', async () => {
    const refused = new Set<string>()
    const sandbox = await openSandbox({
      scale: 0.005,
      intercept: ({ path, key }) => (key !== sandboxKeys.agency && refused.has(path) ? no : undefined),
    })
    const warehouse = await bench.warehouse()
    const sync = (apiKey: string) =>
      syncOnce(sandbox, warehouse, {
        connection: { apiKey },
        request: { resources: ['key', 'access-rules', 'invoices'] },
      })
    const state = async () => {
      const { keys, access } = await resourceState(warehouse.engine, accessRules)
      return { keys, access }
    }
    const agencies = { kind: 'agency', way: 'not at all', state: 'not for this kind of key' }
    expect(stateOf(await sync(sandboxKeys.company))).toEqual(['done', 0])
    const skipped = await sync(sandboxKeys.agency)
    expect([stateOf(skipped, 'access-rules')[0], skipped.failure?.message]).toEqual(['skipped', undefined])
    expect(await state()).toEqual({
      access: 'readable',
      keys: [{ kind: 'company', way: 'list', state: 'readable' }, agencies],
    })
    refused.add('/access-rule-mappings').add('/invoices')
    const lost = await sync(sandboxKeys.company)
    expect([stateOf(lost), stateOf(lost, 'access-rules')]).toEqual([
      ['failed', 1],
      ['failed', 1],
    ])
    await sync(sandboxKeys.agency)
    expect(await state()).toEqual({
      access: 'no longer readable',
      keys: [{ kind: 'company', way: 'list', state: 'no longer readable' }, agencies],
    })
    expect((await incompleteResources(warehouse.engine))?.map(({ resource }) => resource)).toEqual(
      expect.arrayContaining(['access-rules', 'invoices']),
    )
  }, 60_000)
})
