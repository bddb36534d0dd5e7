/** Failures of the server during a sync: one line explains each, and the next sync completes the warehouse. */
import { beforeAll, expect, test } from 'vitest'
import type { RunResult } from '../../../src/sync/run/run.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { openPostgres } from '../../../src/warehouse/postgres/open.ts'
import { thorough } from '../../support/long-suite.ts'
import { onServer } from '../../support/postgres-database.ts'
import { type Dump, tables } from '../../support/warehouse-dump.ts'
import { syncOnce, useEngines, type Warehouse } from '../../support/warehouse-fixture.ts'
import { plainRecords } from '../../sync/plain-records.ts'
import { Barrier } from './barrier.ts'
import { type HoldingSandbox, openHoldingSandbox } from './delayed-page.ts'

const made = useEngines()
const request = { resources: ['timesheets'] }
let sandbox: HoldingSandbox
let undisturbed: Dump | undefined

beforeAll(async () => {
  sandbox = await openHoldingSandbox({
    records: plainRecords({ timesheets: 900 }),
    rateLimitPerDay: 1_000_000,
  })
})

let runs = 0

/** A sync whose run has a name of its own; `url` is another way to the same warehouse. */
async function sync(warehouse: Warehouse, url = warehouse.address): Promise<RunResult> {
  runs += 1
  const scratch = `${warehouse.landing}.${runs}.tmp`
  const engine = await openPostgres({ url, shown: 'postgres://shown' }, { scratch })
  const rng = () => runs / 1000
  try {
    return await syncOnce(
      sandbox,
      { ...warehouse, engine, landing: warehouse.landing },
      { request, effects: { rng } },
    )
  } finally {
    await engine.close()
  }
}

async function expectWholeAfterNext(warehouse: Warehouse): Promise<void> {
  expect((await sync(warehouse)).failure).toBeUndefined()
  if (!undisturbed) {
    const other = await made.postgres()
    await sync(other)
    undisturbed = await tables(other.engine)
  }
  expect(await tables(warehouse.engine)).toEqual(undisturbed)
}

const runStates = async (engine: Engine): Promise<unknown[]> =>
  (await engine.rows<{ state: string }>('select state from ops.run order by started_at')).map(
    ({ state }) => state,
  )

const oneLine = (expected: string) => expect.stringMatching(new RegExp(`^[^\\n]*${expected}[^\\n]*$`))

test('a connection that is cut in the middle of a transaction', async () => {
  const warehouse = await made.postgres()
  const barrier = await Barrier.put(warehouse.address)
  await barrier.close()
  const running = sync(warehouse)
  await onServer(`select pg_terminate_backend(${await barrier.waiting()})`)
  await barrier.open()
  const { failure } = await running
  expect(failure?.message).toEqual(
    oneLine(
      'timesheets failed: the connection to the server was lost: its administrator .*postgres://shown.: run again once it runs',
    ),
  )
  expect(await warehouse.engine.rows('select 1 from star.fact_timesheet')).toEqual([])
  await expectWholeAfterNext(warehouse)
  expect(await runStates(warehouse.engine)).toEqual(['failed', 'done'])
  await barrier.remove()
})

test('a connection that is cut between two transactions is reopened', async () => {
  const warehouse = await made.postgres()
  const page = sandbox.hold('3')
  const running = sync(warehouse)
  await page.asked
  const database = new URL(warehouse.address).pathname.slice(1)
  const [{ cut } = { cut: 0 }] = await onServer<{ cut: number }>(
    `select count(pg_terminate_backend(a.pid)) as cut from pg_stat_activity a join pg_locks l on l.pid = a.pid
     where datname = '${database}' and locktype = 'advisory'`,
  )
  expect(Number(cut)).toBe(1)
  page.release()
  expect((await running).failure).toBeUndefined()
  await expectWholeAfterNext(warehouse)
  expect(await runStates(warehouse.engine)).toEqual(['done', 'done'])
})

test.runIf(thorough)('a statement that takes longer than the role may', async () => {
  const warehouse = await made.postgres()
  const barrier = await Barrier.put(warehouse.address)
  await barrier.close()
  const { failure } = await sync(warehouse, `${warehouse.address}?options=-c%20statement_timeout%3D2s`)
  expect(failure?.message).toEqual(oneLine('stopped a statement that took too long .*statement_timeout'))
  await barrier.open()
  await expectWholeAfterNext(warehouse)
  expect(await runStates(warehouse.engine)).toEqual(['failed', 'done'])
  await barrier.remove()
})

test('a server that is read-only', async () => {
  const warehouse = await made.postgres()
  const readOnly = `${warehouse.address}?options=-c%20default_transaction_read_only%3Don`
  await expect(sync(warehouse, readOnly)).rejects.toThrow(
    /^the server takes no changes: it is a standby, or read-only \(postgres:\/\/shown\): name the primary/,
  )
  await expectWholeAfterNext(warehouse)
})

test.runIf(thorough)('a server that becomes read-only while a sync runs', async () => {
  const warehouse = await made.postgres()
  const page = sandbox.hold('3')
  const running = sync(warehouse)
  await page.asked
  const database = new URL(warehouse.address).pathname.slice(1)
  await onServer(`alter database ${database} set default_transaction_read_only = on`)
  await onServer(
    `select pg_terminate_backend(a.pid) from pg_stat_activity a join pg_locks l on l.pid = a.pid
     where datname = '${database}' and locktype = 'advisory'`,
  )
  page.release()
  const { failure } = await running
  expect(failure?.message).toEqual(oneLine('timesheets failed: the server takes no changes'))
  await onServer(`alter database ${database} reset default_transaction_read_only`)
  await warehouse.close()
  await warehouse.open()
  expect(await runStates(warehouse.engine)).toEqual(['running'])
  await expectWholeAfterNext(warehouse)
  expect(await runStates(warehouse.engine)).toEqual(['failed', 'done'])
})

test('a server that has no connection left', async () => {
  const warehouse = await made.postgres()
  await onServer('drop role if exists muster_crowded')
  await onServer(`create role muster_crowded login password 'crowded' connection limit 0`)
  try {
    const url = Object.assign(new URL(warehouse.address), { username: 'muster_crowded', password: 'crowded' })
    await expect(sync(warehouse, url.href)).rejects.toThrow(
      /^the server has no connection left \(postgres:\/\/shown\): close some, or run again later$/,
    )
  } finally {
    await onServer('drop role muster_crowded')
  }
  await expectWholeAfterNext(warehouse)
})
