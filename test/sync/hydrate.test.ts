/** Records that are read by id: found, read, remembered when they cannot be, and asked for again when told to. */
import { expect, test } from 'vitest'
import { findResource } from '../../src/resources/catalogue.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { COMPANY_KEY } from '../../src/sandbox/keys.ts'
import type { SandboxRequest } from '../../src/sandbox/options.ts'
import { replay } from '../../src/sync/replay.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { remember, signal } from '../../src/warehouse/ledger/discovered.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { thorough } from '../thorough.ts'
import { describeOnEngines, rowsTouched, syncOnce, tables } from '../warehouse/fixture.ts'
import { readById } from '../warehouse/read-by-id.ts'

const hydrated = ['trades', 'purchase-orders', 'credit-notes', 'requisitions', 'assignments', 'rates']
const roomy = { scale: 0.03, rateLimitPerDay: 1_000_000 }
const dayMs = 86_400_000
const at = '2026-11-02T10:00:00.000Z'

/** Requests for single records, by their path; company settings and the like are lists. */
const byId = (requests: readonly SandboxRequest[]): string[] =>
  requests
    .map(({ path }) => path)
    .filter(
      path =>
        hydrated.includes(path.split('/')[1] ?? '') &&
        path.split('/').length === 3 &&
        !path.endsWith('-metrics'),
    )

/** Days pass between runs; within them time goes as it does. */
function movedClock() {
  const started = Date.now()
  const state = { days: 0 }
  const now = (): number => Date.parse(at) + state.days * dayMs + Date.now() - started
  const sleep = async (ms: number): Promise<void> => {
    state.days += ms / dayMs
  }
  return { state, now, sleep }
}

const heard = (resource: string, recordId: string, when = at) => ({
  resource,
  recordId,
  source: 'event',
  at: when,
})

async function idsIn(engine: Engine, table: string, key: string): Promise<string[]> {
  const stub = table.startsWith('dim_') ? `and not is_stub and ${key} <> '-1'` : ''
  const rows = await engine.rows<{ id: string }>(
    `select ${key} as id from star.${table} where not is_deleted ${stub} order by 1`,
  )
  return rows.map(({ id }) => id)
}

const stateOf = async (engine: Engine, recordId: string) => {
  const [row] = await engine.rows<{ state: string; reason: string; misses: number; retry_after: string }>(
    'select state, reason, misses, retry_after from ops.discovered where record_id = $1',
    [recordId],
  )
  return row && { ...row, misses: Number(row.misses) }
}

describeOnEngines('by id', bench => {
  test('what lists name is read, and what that names; a second sync asks for nothing again', async () => {
    const sandbox = await openSandbox(roomy)
    const warehouse = await bench.warehouse()
    const { engine } = warehouse
    const request = { resources: ['timesheets', 'metric-rows', ...hydrated] }
    const first = await syncOnce(sandbox, warehouse, { request })
    expect(first.failure).toBeUndefined()
    const asked = byId(sandbox.requests)
    expect(new Set(asked).size).toBe(asked.length)
    const named = (collection: 'assignments' | 'timesheets'): string[] =>
      sandbox.world.all(collection).flatMap(record => {
        const { assignment, requisition } = record as Record<string, { id: string } | undefined>
        return [(collection === 'timesheets' ? assignment : requisition)?.id ?? []].flat()
      })
    const assignments = await idsIn(engine, 'fact_assignment', 'assignment_id')
    expect(assignments).toEqual([...new Set(named('timesheets'))].sort())
    expect(await idsIn(engine, 'fact_requisition', 'requisition_id')).not.toEqual([])
    // One request a trade brings its rates and its matrix, so that no rate is asked for.
    const trades = sandbox.requests.filter(({ path }) => path.startsWith('/trades/'))
    expect(
      trades.every(({ query }) => query.includeRates === 'true' && query.includeCompetencyMatrix === 'true'),
    ).toBe(true)
    expect(trades).toHaveLength((await idsIn(engine, 'dim_trade', 'trade_id')).length)
    expect(asked.filter(path => path.startsWith('/rates/'))).toEqual([])
    const [rates] = await engine.rows<{ n: number }>(
      `select count(*) as n from ops.discovered where resource = 'rates' and state = 'held'`,
    )
    expect(Number(rates?.n)).toBeGreaterThan(3)

    const before = sandbox.requests.length
    const second = await syncOnce(sandbox, warehouse, { request })
    expect(second.failure).toBeUndefined()
    expect([rowsTouched(second), byId(sandbox.requests.slice(before))]).toEqual([0, []])
    const ledger = second.resources.filter(({ resource }) => hydrated.includes(resource))
    expect(ledger.map(({ state }) => state)).toEqual(hydrated.map(() => 'done'))
  })
})

describeOnEngines('by id, in detail', bench => {
  test('404 and 403 are remembered, and asked again after 1, 2, 4 days, for a signal or another key', async () => {
    const sandbox = await openSandbox({
      ...roomy,
      intercept: ({ path }) =>
        path === '/credit-notes/guarded'
          ? { status: 403, body: '{"success":false,"message":"no"}' }
          : undefined,
    })
    const warehouse = await bench.warehouse()
    const { engine } = warehouse
    const clock = movedClock()
    const request = { resources: ['credit-notes'] }
    const sync = async (days: number, apiKey = COMPANY_KEY) => {
      clock.state.days = days
      const before = sandbox.requests.length
      const { failure } = await syncOnce(sandbox, warehouse, {
        request,
        effects: { clock },
        connection: { apiKey },
      })
      expect(failure).toBeUndefined()
      return byId(sandbox.requests.slice(before)).sort()
    }
    const both = ['/credit-notes/guarded', '/credit-notes/nowhere']
    await signal(engine, [heard('credit-notes', 'nowhere'), heard('credit-notes', 'guarded')])
    expect(await sync(0)).toEqual(both)
    expect(await stateOf(engine, 'nowhere')).toMatchObject({
      state: 'missing',
      reason: 'not found (404)',
      misses: 1,
    })
    expect(await stateOf(engine, 'guarded')).toMatchObject({
      state: 'refused',
      reason: 'the key may not read this (403)',
      retry_after: expect.stringMatching(/^2026-11-03T10:00/),
    })
    expect([await sync(0.9), await sync(1.1), await sync(3), await sync(3.2)]).toEqual([[], both, [], both])
    await signal(engine, [heard('credit-notes', 'nowhere', new Date(clock.now()).toISOString())])
    clock.state.days = 3.3
    expect(await sync(3.3)).toEqual(['/credit-notes/nowhere'])
    // Another key may see what this one may not.
    expect(await sync(3.4, 'sandbox-one-company-key')).toEqual(both)
    expect(await sync(3.5, 'sandbox-one-company-key')).toEqual([])
  })

  test('a key that may read no such record is found out after a few, and its ids stay', async () => {
    const sandbox = await openSandbox({ ...roomy, provokesByMuster: ['scope'] })
    const warehouse = await bench.warehouse()
    const ids = sandbox.world.all('requisitions').map(({ id }) => String(id))
    expect(ids.length).toBeGreaterThan(12)
    await signal(
      warehouse.engine,
      ids.map(id => heard('requisitions', id)),
    )
    const { failure, resources } = await syncOnce(sandbox, warehouse, {
      request: { resources: ['requisitions'] },
      connection: { apiKey: 'sandbox-companies-only-key' },
    })
    expect(failure).toBeUndefined()
    expect(resources).toMatchObject([
      { state: 'skipped', note: expect.stringContaining('may not read this') },
    ])
    expect(byId(sandbox.requests).length).toBeLessThan(10)
  })

  test.runIf(thorough)(
    '10,000 signals on 300 records cost 300 requests, and none is asked twice within a minute',
    async () => {
      const company = { id: 'c1', name: 'Company 1' }
      const assignments = Array.from({ length: 300 }, (_, n) => ({ id: `a${n}`, company, updatedAt: at }))
      const records = { companies: [{ ...company, updatedAt: at }], assignments }
      const sandbox = await openSandbox({ records, rateLimitPerDay: 1_000_000 })
      const warehouse = await bench.warehouse()
      const ids = assignments.map(({ id }) => id)
      const clock = movedClock()
      const request = { resources: ['assignments'] }
      const burst = Array.from({ length: 10_000 }, (_, index) =>
        heard('assignments', ids[(index * 7) % 300] ?? ''),
      )
      // The second burst comes within a minute of the first; what it asks for is read when that is over.
      for (const [days, wanted] of [
        [0, 300],
        [0, 0],
        [0.001, 300],
      ] as const) {
        clock.state.days = days
        if (days === 0) await signal(warehouse.engine, burst)
        const before = sandbox.requests.length
        const { failure } = await syncOnce(sandbox, warehouse, { request, effects: { clock } })
        expect(failure).toBeUndefined()
        const asked = byId(sandbox.requests.slice(before))
        expect([days, asked.length, new Set(asked).size]).toEqual([days, wanted, wanted])
      }
    },
  )

  test('what may have changed is read again after a day, and what is found tells how often it does', async () => {
    const company = { id: 'c1', name: 'Company 1' }
    const record = (id: string, updatedAt: string) => ({
      id,
      company,
      createdAt: '2026-10-23T10:00:00Z',
      updatedAt,
    })
    const sandbox = await openSandbox({
      records: {
        companies: [{ ...company, updatedAt: at }],
        assignments: [record('a1', '2026-10-23T10:00:00Z'), record('a2', '2026-10-31T10:00:00Z')],
      },
    })
    const warehouse = await bench.warehouse()
    const clock = movedClock()
    await signal(
      warehouse.engine,
      ['a1', 'a2'].map(id => heard('assignments', id)),
    )
    const sync = async (days: number) => {
      clock.state.days = days
      return syncOnce(sandbox, warehouse, { request: { resources: ['assignments'] }, effects: { clock } })
    }
    const evidence = async () =>
      (
        await warehouse.engine.rows<{ changes: number; exposure_days: number }>(
          `select changes, exposure_days from ops.discovered where resource = 'assignments' order by record_id`,
        )
      ).map(row => [row.changes, row.exposure_days].map(number => Math.round(Number(number) * 100) / 100))
    await sync(0)
    // Ten days without a change since the first was made; two since the second changed.
    expect(await evidence()).toEqual([
      [0, 10],
      [1, 2],
    ])
    sandbox.world.upsert('assignments', record('a1', '2026-11-03T22:00:00Z'))
    const again = await sync(2)
    expect([again.requests, rowsTouched(again)]).toEqual([3, 1])
    // Half a day since the change of the first, two more days of the second; what was known before counts a little less.
    expect(await evidence()).toEqual([
      [1, 10.42],
      [0.99, 3.98],
    ])
  })

  test.runIf(thorough)('a run for signals reads nothing else, and from its own part of the day', async () => {
    const sandbox = await openSandbox({ ...roomy, rateLimitPerDay: 40 })
    const warehouse = await bench.warehouse()
    const ids = sandbox.world.all('requisitions').map(({ id }) => String(id))
    const [signalled, ...others] = ids as [string, ...string[]]
    const resources = ['requisitions', 'assignments', 'trades']
    const clock = movedClock()
    const everything = { resources: ['timesheets', ...resources] }
    const lists = await syncOnce(sandbox, warehouse, { request: everything, effects: { clock } })
    expect(lists.failure?.exitCode).toBe(75)
    await remember(
      warehouse.engine,
      others.map(id => heard('requisitions', id)),
    )
    await signal(warehouse.engine, [heard('requisitions', signalled)])
    const before = sandbox.requests.length
    const request = { resources, onlySignalled: true, purpose: 'webhook' as const }
    clock.state.days = 0.01
    const told = await syncOnce(sandbox, warehouse, { request, effects: { clock } })
    expect(told.failure).toBeUndefined()
    expect(byId(sandbox.requests.slice(before))).toEqual([`/requisitions/${signalled}`])
  })

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
        expect(failure).toMatchObject({ exitCode: 75, message: expect.stringContaining('not read yet') })
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
      await syncOnce(sandbox, warehouse, { request: { resources: ['timesheets', ...hydrated] } })
      const whole = await tables(engine)
      await engine.run(`update ops.window set state = 'walking', loaded_sequence = 3 where kind = 'hydrate'`)
      await engine.run(`update ops.window set loaded_sequence = 0 where resource = 'assignments'`)
      await engine.run(`delete from star.fact_requisition`)
      await engine.run(`delete from star.fact_assignment`)
      await engine.run(
        `update ops.discovered set state = 'unseen', fetches = 0, last_fetched_at = null
         where resource in ('requisitions', 'assignments')`,
      )
      // What only these name is found when they are loaded.
      const [named] = byId(sandbox.requests).filter(path => path.startsWith('/requisitions/'))
      await engine.run(`delete from ops.discovered where resource = 'rates' or record_id = $1`, [
        named?.split('/')[2] ?? '',
      ])
      const before = sandbox.requests.length
      expect(
        (await syncOnce(sandbox, warehouse, { request: { resources: hydrated } })).failure,
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
      const replayed = await replay(empty.engine, warehouse.landing, () => undefined)
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
    // The walk holds its page when the record changes again and is read by its id.
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

  test('ids that could lead elsewhere are never sent', async () => {
    const sandbox = await openSandbox(roomy)
    const warehouse = await bench.warehouse()
    const texts = ['../me', 'a/b', '%2e%2e', 'a?b=c', `a'b`, 'é', '', ' ', 'x'.repeat(65), 'a\nb', '..']
    await signal(
      warehouse.engine,
      texts.map(text => heard('trades', text)),
    )
    const { failure } = await syncOnce(sandbox, warehouse, { request: { resources: ['trades'] } })
    expect(failure).toBeUndefined()
    expect(sandbox.requests.map(({ path }) => path)).toEqual(['/me'])
    const rows = await warehouse.engine.rows<{ n: number }>(
      `select count(*) as n from ops.discovered where state = 'refused' and record_id like 'md5 %'`,
    )
    expect(Number(rows[0]?.n)).toBe(texts.length)
  })
})
