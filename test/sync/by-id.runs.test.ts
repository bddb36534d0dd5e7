/** Records that are read by id: found, read, and asked for again when they may have changed or are told to. */
import { expect, test } from 'vitest'
import { remember, signal } from '../../src/state/by-id/discovered.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { thorough } from '../support/long-suite.ts'
import { describeOnEngines, rowsTouched, syncOnce } from '../support/warehouse-fixture.ts'
import { at, byId, byIdNames, heard, idsIn, movedClock, openAssignments, roomy } from './by-id.ts'

describeOnEngines('by id', bench => {
  test('what lists name is read, and what that names; a second sync asks for nothing again', async () => {
    const sandbox = await openSandbox(roomy)
    const warehouse = await bench.warehouse()
    const { engine } = warehouse
    const request = { resources: ['timesheets', 'metric-rows', ...byIdNames] }
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
      `select count(*) as n from ops.discovered where resource = 'rates' and state = 'stored'`,
    )
    expect(Number(rates?.n)).toBeGreaterThan(3)

    const before = sandbox.requests.length
    const second = await syncOnce(sandbox, warehouse, { request })
    expect(second.failure).toBeUndefined()
    expect([rowsTouched(second), byId(sandbox.requests.slice(before))]).toEqual([0, []])
    const ledger = second.resources.filter(({ resource }) => byIdNames.includes(resource))
    expect(ledger.map(({ state }) => state)).toEqual(byIdNames.map(() => 'done'))
  })

  test('reads what may have changed again after a day, and learns how often it changes', async () => {
    const company = { id: 'c1', name: 'Company 1' }
    const record = (id: string, updatedAt: string) => ({
      id,
      company,
      createdAt: '2026-10-23T10:00:00Z',
      updatedAt,
    })
    const { sandbox, engine, sync, exposure } = await openAssignments(bench, {
      records: {
        companies: [{ ...company, updatedAt: at }],
        assignments: [record('a1', '2026-10-23T10:00:00Z'), record('a2', '2026-10-31T10:00:00Z')],
      },
    })
    await signal(
      engine,
      ['a1', 'a2'].map(id => heard('assignments', id)),
    )

    await sync(0)
    // Ten days without a change since the first was made; two since the second changed.
    expect(await exposure(), 'after the first sync').toEqual([
      [0, 10],
      [1, 2],
    ])

    sandbox.world.upsert('assignments', { ...record('a1', '2026-11-03T22:00:00Z'), reference: 'changed' })
    const again = await sync(2)
    expect([again.requests, rowsTouched(again)], 'requests and rows of the second sync').toEqual([3, 1])
    // Half a day since the change of the first, two more days of the second; what was known before counts a little less.
    expect(await exposure(), 'after the second sync').toEqual([
      [1, 10.42],
      [0.99, 3.98],
    ])
  })

  test('a stored record that an event announced, and that gets no answer, leaves its resource incomplete', async () => {
    const company = { id: 'c1', name: 'Company 1' }
    const record = (reference: string, updatedAt: string) => ({
      ...{ id: 'a1', company, reference, createdAt: at, updatedAt },
    })
    let isDown = false
    const { sandbox, engine, sync, reference } = await openAssignments(bench, {
      records: { companies: [{ ...company, updatedAt: at }], assignments: [record('old', at)] },
      intercept: ({ path }) => (isDown && path === '/assignments/a1' ? { status: 503, body: '' } : undefined),
    })
    await signal(engine, [heard('assignments', 'a1')])
    expect([(await sync(0)).failure, await reference()], 'the first sync').toEqual([undefined, 'old'])

    sandbox.world.upsert('assignments', record('new', '2026-11-03T22:00:00Z'))
    await signal(engine, [heard('assignments', 'a1', '2026-11-03T22:00:00.000Z')])
    isDown = true
    expect((await sync(2)).failure, 'while the record gets no answer').toMatchObject({ exitCode: 1 })
    isDown = false
    expect([(await sync(2.1)).failure, await reference()], 'once it is answered').toEqual([undefined, 'new'])
  })

  test('a stored record that an event announced, and for which no request is left, ends the run with 75', async () => {
    const sandbox = await openSandbox({ ...roomy, rateLimitPerDay: 1_000_000 })
    const warehouse = await bench.warehouse()
    const clock = movedClock()
    const sync = async (days: number, limits = {}) => {
      clock.state.days = days
      const request = { resources: ['requisitions'], limits }
      return syncOnce(sandbox, warehouse, { request, effects: { clock } })
    }
    const ids = sandbox.world.all('requisitions').map(({ id }) => String(id))
    await signal(
      warehouse.engine,
      ids.map(id => heard('requisitions', id)),
    )
    expect((await sync(0)).failure).toBeUndefined()
    const told = ids.map(id => heard('requisitions', id, '2026-11-03T22:00:00.000Z'))
    await signal(warehouse.engine, told)
    const cut = await sync(2, { maxRequests: 3 })
    expect(cut.failure).toMatchObject({ exitCode: 75 })
    expect(cut.failure?.message).toMatch(/requisitions: .*\d+ changed by events/)
    expect((await sync(2.1)).failure).toBeUndefined()
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
