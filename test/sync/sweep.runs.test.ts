/** Sweeps over HTTP: what is gone at the service is found, proved twice, tombstoned, and brought back on sight. */
import { expect, test } from 'vitest'
import { recordEvidence } from '../../src/state/evidence/evidence.ts'
import { thorough } from '../support/long-suite.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { plainMakers, plainRecords, timeOf } from './plain-records.ts'
import { deleted, openSwept } from './sweeping.ts'

/** Every tenth timesheet is the second company's. */
function ofTwoCompanies(timesheets: number) {
  const { timesheets: plain = [], companies = [], ...rest } = plainRecords({ timesheets, expenses: 5 })
  const second = { id: 'c2', name: 'Company 2' }
  const placed = plain.map((record, index) => (index % 10 === 4 ? { ...record, company: second } : record))
  return { ...rest, companies: [...companies, { ...second, ...companies[0], id: 'c2' }], timesheets: placed }
}

describeOnEngines('a sweep', bench => {
  test('tombstones what two evidence saw gone, and brings it back on sight', async () => {
    const service = await openSwept({ records: plainRecords({ timesheets: 230, expenses: 5 }) })
    const warehouse = await bench.warehouse()
    const { engine } = warehouse
    await service.sync(warehouse)
    const gone = service.world.get('timesheets', 't3')
    service.world.remove('timesheets', 't3')
    service.world.remove('expenses', 'e2')
    const first = await service.sweep(warehouse)
    expect(first.failure).toBeUndefined()
    expect(await deleted(warehouse)).toEqual(['e2'])
    const second = await service.sweep(warehouse)
    expect(second.failure).toBeUndefined()
    expect(await deleted(warehouse)).toEqual(['e2', 't3'])
    const children = 'select timesheet_id, is_deleted from star.fact_timelog where is_deleted'
    expect(await engine.rows(children)).toEqual([{ timesheet_id: 't3', is_deleted: true }])
    expect(await engine.rows('select timesheet_id as id from history.fact_timesheet')).toEqual([{ id: 't3' }])
    const evidence = await engine.rows<{ evidence: string }>(
      'select evidence from ops.deletion order by record_id',
    )
    const kinds = evidence.map(row => JSON.parse(row.evidence).map((word: { kind: string }) => word.kind))
    expect(kinds).toEqual([
      ['sweep', 'by-id 404'],
      ['sweep', 'sweep'],
    ])
    const third = await service.sweep(warehouse)
    expect(third.resources.map(one => one.rows_removed)).toEqual([0, 0])
    service.world.upsert('timesheets', { ...gone, updatedAt: timeOf(400) })
    await service.sync(warehouse)
    expect(await deleted(warehouse)).toEqual(['e2'])
    expect(await engine.rows(children)).toEqual([])
    const undeleted = 'select record_id as id from ops.deletion where undeleted_at is not null'
    expect(await engine.rows(undeleted)).toEqual([{ id: 't3' }])
  })
})

describeOnEngines('a sweep', bench => {
  test('that sees a tombstoned record brings it back by itself, and counts it for the builds', async () => {
    const service = await openSwept({ records: plainRecords({ timesheets: 30 }) })
    const warehouse = await bench.warehouse()
    await service.sync(warehouse)
    const gone = service.world.get('timesheets', 't3')
    service.world.remove('timesheets', 't3')
    await service.sweep(warehouse)
    await service.sweep(warehouse)
    expect(await deleted(warehouse)).toEqual(['t3'])
    service.world.upsert('timesheets', { ...gone })
    const changedIn = async ({ runId }: { runId: string }): Promise<number> => {
      const [row] = await warehouse.engine.rows<{ n: number }>(
        'select rows_changed as n from ops.run where run_id = $1',
        [runId],
      )
      return Number(row?.n)
    }
    const revived = await service.sweep(warehouse)
    expect(revived.failure).toBeUndefined()
    expect(await deleted(warehouse)).toEqual([])
    // A build reads the sum of these, and makes anew what reads changed rows.
    expect(await changedIn(revived)).toBe(1)
    const after = await service.sweep(warehouse)
    expect(await deleted(warehouse)).toEqual([])
    expect(await changedIn(after)).toBe(0)
  })

  test.runIf(thorough)('takes the word of an event as one of the two', async () => {
    const service = await openSwept({ records: plainRecords({ timesheets: 30 }) })
    const warehouse = await bench.warehouse()
    await service.sync(warehouse)
    const row = { resource: 'timesheets', kind: 'event' as const, source: 'event-1' }
    const heard = { ...row, seen_at: new Date().toISOString() }
    service.world.remove('timesheets', 't3')
    // The second is a lie: the sweep sees t4.
    await recordEvidence(warehouse.engine, [
      { ...heard, record_id: 't3' },
      { ...heard, record_id: 't3', source: 'event-2' },
      { ...heard, record_id: 't4' },
    ])
    await service.sweep(warehouse)
    expect(await deleted(warehouse)).toEqual(['t3'])
    service.world.remove('timesheets', 't4')
    await service.sweep(warehouse)
    expect(await deleted(warehouse)).toEqual(['t3'])
  })
})

describeOnEngines('a sweep stops the tombstoning', bench => {
  test('when too much is gone at once, until the operator confirms it', async () => {
    const service = await openSwept({ records: plainRecords({ timesheets: 230 }) })
    const warehouse = await bench.warehouse()
    await service.sync(warehouse)
    for (let n = 0; n < 21; n += 1) service.world.remove('timesheets', `t${n}`)
    for (let run = 0; run < 3; run += 1) {
      const { failure } = await service.sweep(warehouse)
      expect(failure).toMatchObject({ exitCode: 3 })
      expect(failure?.message).toBe(
        'refusing to delete 21 of 230 timesheets at once: compare with the application; if they are deleted, muster sweep timesheets --max-deletions 21',
      )
    }
    expect(await deleted(warehouse)).toEqual([])
    const request = { sweep: { maxDeletions: 21 } }
    await service.sweep(warehouse, { request })
    expect((await service.sweep(warehouse, { request })).failure).toBeUndefined()
    expect(await deleted(warehouse)).toHaveLength(21)
  })

  test.runIf(thorough)('when the key sees less than before, for as long as it does', async () => {
    const service = await openSwept({ records: ofTwoCompanies(100) })
    const warehouse = await bench.warehouse()
    await service.sync(warehouse)
    await service.sweep(warehouse)
    service.allow({ companies: ['c1'] })
    const only = { request: { resources: ['timesheets'] } }
    const { failure } = await service.sweep(warehouse, only)
    expect(failure).toMatchObject({ exitCode: 3 })
    expect(failure?.message).toContain('10 are no longer visible to the key and stay')
    service.world.remove('timesheets', 't3')
    await service.sync(warehouse)
    for (let run = 0; run < 3; run += 1) {
      expect((await service.sweep(warehouse, only)).failure).toBeUndefined()
      expect(await deleted(warehouse)).toEqual(run === 0 ? [] : ['t3'])
    }
    service.allow({ companies: 'all' })
    const { resources } = await service.sync(warehouse)
    expect(resources.find(one => one.resource === 'timesheets')?.note).toContain('can see more than before')
    service.world.remove('timesheets', 't4')
    await service.sweep(warehouse, only)
    await service.sweep(warehouse, only)
    expect(await deleted(warehouse)).toEqual(['t3', 't4'])
  })

  test('when the key changes while the list is swept', async () => {
    let isSweeping = false
    const service = await openSwept({
      records: ofTwoCompanies(100),
      onRequest: ({ path }) => {
        if (isSweeping && path.endsWith('/timesheets')) service.allow({ companies: ['c1'] })
      },
    })
    const warehouse = await bench.warehouse()
    await service.sync(warehouse, { request: { resources: ['timesheets'] } })
    isSweeping = true
    const { failure } = await service.sweep(warehouse, { request: { resources: ['timesheets'] } })
    expect(failure?.message).toContain('changed during the sweep of timesheets')
    expect(await warehouse.engine.rows('select * from ops.evidence')).toEqual([])
  })

  test('when the service refuses the list', async () => {
    let isRefusing = false
    const service = await openSwept({
      records: plainRecords({ timesheets: 30, expenses: 5 }),
      intercept: ({ path }) =>
        isRefusing && !path.endsWith('/me')
          ? { status: 403, body: '{"success":false,"error":{"code":"FORBIDDEN","message":"no"}}' }
          : undefined,
    })
    const warehouse = await bench.warehouse()
    await service.sync(warehouse)
    isRefusing = true
    for (let run = 0; run < 2; run += 1) {
      const { resources } = await service.sweep(warehouse)
      expect(resources.map(({ state }) => state)).toEqual(['failed', 'failed'])
    }
    expect(await warehouse.engine.rows('select * from ops.evidence')).toEqual([])
  })

  test.runIf(thorough)('when the service says 404 to every id from some moment on', async () => {
    let asked = 0
    let answered = Number.POSITIVE_INFINITY
    const service = await openSwept({
      records: plainRecords({ expenses: 30 }),
      intercept: ({ path }) => {
        if (!path.startsWith('/expenses/')) return undefined
        asked += 1
        return asked > answered
          ? { status: 404, body: '{"success":false,"error":{"code":"NOT_FOUND","message":"no"}}' }
          : undefined
      },
    })
    const warehouse = await bench.warehouse()
    await service.sync(warehouse)
    const request = { resources: ['expenses'] }
    // Missing from the list for as long as it is swept, and there by id.
    const hidden = service.world.get('expenses', 'e3')
    for (answered of [0, 1]) {
      asked = 0
      service.world.remove('expenses', 'e3')
      const { resources } = await service.sweep(warehouse, { request })
      expect(resources[0]?.note).toContain('the service returns no record by id')
      expect(await deleted(warehouse)).toEqual([])
      service.world.upsert('expenses', { ...hidden })
      await service.sweep(warehouse, { request })
    }
  })
})

describeOnEngines('a sweep', bench => {
  test.runIf(thorough)('records what the warehouse has not stored, and the next sync reads it', async () => {
    const service = await openSwept({ records: plainRecords({ timesheets: 230 }) })
    const warehouse = await bench.warehouse()
    await service.sync(warehouse)
    const late = plainMakers.timesheets(7)
    service.world.upsert('timesheets', { ...late, id: 'late' })
    service.world.upsert('timesheets', {
      ...service.world.get('timesheets', 't9'),
      status: 'cancelled',
      updatedAt: timeOf(10),
    })
    const held = `select timesheet_id as id, status from star.fact_timesheet where timesheet_id in ('late', 't9') order by 1`
    await service.sync(warehouse)
    expect(await warehouse.engine.rows(held)).toEqual([{ id: 't9', status: 'pending' }])
    await service.sweep(warehouse)
    await service.sync(warehouse)
    expect(await warehouse.engine.rows(held)).toEqual([
      { id: 'late', status: 'pending' },
      { id: 't9', status: 'cancelled' },
    ])
    const before = await warehouse.engine.rows('select * from ops.unread')
    expect(before).toEqual([])
  })

  test('that runs out of requests goes on with the next run', async () => {
    const service = await openSwept({ records: plainRecords({ timesheets: 910 }) })
    const warehouse = await bench.warehouse()
    const only = { resources: ['timesheets'] }
    await service.sync(warehouse, { request: only })
    service.world.remove('timesheets', 't3')
    const limits = { maxRequests: 3 }
    let runs = 0
    for (let isCut = true; isCut; runs += 1)
      isCut = (await service.sweep(warehouse, { request: { ...only, limits } })).failure?.exitCode === 75
    expect(runs).toBeGreaterThan(2)
    await service.sweep(warehouse, { request: only })
    expect(await deleted(warehouse)).toEqual(['t3'])
  })

  test('that was left alone for a week begins again, and sees what was deleted since', async () => {
    const service = await openSwept({ records: plainRecords({ timesheets: 910 }) })
    const warehouse = await bench.warehouse()
    const only = { resources: ['timesheets'] }
    await service.sync(warehouse, { request: only })
    const cut = await service.sweep(warehouse, { request: { ...only, limits: { maxRequests: 4 } } })
    expect(cut.failure?.exitCode).toBe(75)
    const longAgo = new Date(Date.now() - 8 * 86_400_000).toISOString()
    for (const table of ['ops.scan', 'ops.sweep'])
      await warehouse.engine.run(`update ${table} set started_at = $1 where sweep_id is not null`, [longAgo])
    // Of the page that was read first.
    service.world.remove('timesheets', 't909')
    for (let evidence = 0; evidence < 2; evidence += 1) await service.sweep(warehouse, { request: only })
    expect(await deleted(warehouse)).toEqual(['t909'])
  })
})

describeOnEngines('a sweep', bench => {
  test.runIf(thorough)(
    'asks again for what is read by id only, and hears a 404 of another run with its own',
    async () => {
      const service = await openSwept({ scale: 0.02 })
      const warehouse = await bench.warehouse()
      const only = { resources: ['timesheets', 'assignments'] }
      const { runId } = await service.sync(warehouse, { request: only })
      const rows = await warehouse.engine.rows<{ id: string }>(
        'select assignment_id as id from star.fact_assignment order by 1 limit 2',
      )
      const [gone, there] = rows.map(({ id }) => id) as [string, string]
      service.world.remove('assignments', gone)
      const word = { resource: 'assignments', kind: 'by-id 404' as const, source: runId }
      const heard = { ...word, seen_at: new Date().toISOString() }
      await recordEvidence(warehouse.engine, [
        { ...heard, record_id: gone },
        { ...heard, record_id: there },
      ])
      const sweep = { request: { resources: ['assignments'] } }
      expect((await service.sweep(warehouse, sweep)).failure).toBeUndefined()
      const marked = 'select assignment_id as id from star.fact_assignment where is_deleted'
      expect(await warehouse.engine.rows(marked)).toEqual([{ id: gone }])
      const standing = 'select distinct record_id as id from ops.evidence where void_at is null'
      expect(await warehouse.engine.rows(standing)).toEqual([{ id: gone }])
    },
  )
})
