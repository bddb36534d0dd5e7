/** Sweeps over HTTP: what is gone at the service is found, proved twice, tombstoned, and brought back on sight. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, type Overrides, syncOnce, type Warehouse } from '../warehouse/fixture.ts'
import { plainRecords, timeOf } from './plain-records.ts'

const lists = ['timesheets', 'expenses']

const sync = (sandbox: { url: string }, warehouse: Warehouse, { request, ...rest }: Overrides = {}) =>
  syncOnce(sandbox, warehouse, { request: { resources: ['key', ...lists], ...request }, ...rest })

const sweep = (sandbox: { url: string }, warehouse: Warehouse, { request, ...rest }: Overrides = {}) =>
  syncOnce(sandbox, warehouse, {
    request: { command: 'sweep', resources: lists, sweep: {}, ...request },
    ...rest,
  })

async function deleted({ engine }: Warehouse): Promise<string[]> {
  const rows = await engine.rows<{ id: string }>(
    `select timesheet_id as id from star.fact_timesheet where is_deleted union all
     select expense_id from star.fact_expense where is_deleted order by 1`,
  )
  return rows.map(({ id }) => id)
}

describeOnEngines('a sweep', bench => {
  test('tombstones what two witnesses saw gone, and brings it back on sight', async () => {
    const sandbox = await openSandbox({ records: plainRecords({ timesheets: 230, expenses: 5 }) })
    const warehouse = await bench.warehouse()
    await sync(sandbox, warehouse)
    const gone = sandbox.world.get('timesheets', 't3')
    sandbox.world.remove('timesheets', 't3')
    sandbox.world.remove('expenses', 'e2')
    const first = await sweep(sandbox, warehouse)
    expect(first.failure).toBeUndefined()
    expect(await deleted(warehouse)).toEqual(['e2'])
    const second = await sweep(sandbox, warehouse)
    expect(second.failure).toBeUndefined()
    expect(await deleted(warehouse)).toEqual(['e2', 't3'])
    const { engine } = warehouse
    expect(
      await engine.rows(`select timesheet_id, is_deleted from star.fact_timelog where is_deleted`),
    ).toEqual([{ timesheet_id: 't3', is_deleted: true }])
    expect(await engine.rows(`select timesheet_id from history.fact_timesheet`)).toEqual([
      { timesheet_id: 't3' },
    ])
    const evidence = await engine.rows<{ record_id: string; witnesses: string }>(
      'select record_id, witnesses from ops.deletion order by 1',
    )
    expect(evidence.map(row => JSON.parse(row.witnesses).map((word: { kind: string }) => word.kind))).toEqual(
      [
        ['sweep', 'by-id 404'],
        ['sweep', 'sweep'],
      ],
    )
    const third = await sweep(sandbox, warehouse)
    expect(third.resources.map(one => one.rows_removed)).toEqual([0, 0])
    sandbox.world.upsert('timesheets', { ...gone!, updatedAt: timeOf(400) })
    await sync(sandbox, warehouse)
    expect(await deleted(warehouse)).toEqual(['e2'])
    expect(await engine.rows(`select record_id from ops.deletion where undeleted_at is not null`)).toEqual([
      { record_id: 't3' },
    ])
  })
})
