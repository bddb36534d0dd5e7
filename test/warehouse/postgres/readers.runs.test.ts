/** Readers and syncs do not wait for each other. */
import pg from 'pg'
import { expect, test } from 'vitest'
import { migrate } from '../../../src/state/migrate.ts'
import { openSandbox } from '../../sandbox/open-sandbox.ts'
import { syncOnce, useEngines, type Warehouse } from '../../support/warehouse-fixture.ts'
import { plainRecords } from '../../sync/plain-records.ts'
import { Barrier } from './barrier.ts'

const made = useEngines()
const roomy = { rateLimitPerDay: 1_000_000 }
const request = { resources: ['timesheets', 'users'] }

/** 300 timesheets are there; the next sync adds 100. */
async function begun(): Promise<{ warehouse: Warehouse; sync: () => ReturnType<typeof syncOnce> }> {
  const warehouse = await made.postgres()
  const records = plainRecords({ timesheets: 400 })
  const timesheets = records.timesheets?.slice(0, 300) ?? []
  const first = await openSandbox({
    records: { ...records, timesheets },
    ...roomy,
  })
  expect((await syncOnce(first, warehouse, { request })).failure).toBeUndefined()
  const second = await openSandbox({ records, ...roomy })
  return { warehouse, sync: () => syncOnce(second, warehouse, { request, effects: { rng: () => 0.5 } }) }
}

async function reader(warehouse: Warehouse): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: warehouse.address })
  await client.connect()
  // A wait of any kind is a failure.
  await client.query(`set statement_timeout = '5s'; set lock_timeout = '1s'`)
  return client
}

const countOf = async (client: pg.Client): Promise<number> =>
  Number((await client.query('select count(*) as n from star.fact_timesheet')).rows[0].n)

const everyTable = `select format('%I.%I', schemaname, tablename) as name from pg_tables
  where schemaname in ('star', 'mart', 'history', 'pii', 'ops')`

/** Touches every table of the warehouse, so that the reader's transaction has its lock on each. */
async function readAll(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ name: string }>(everyTable)
  await client.query(rows.map(({ name }) => `select count(*) from ${name}`).join('; '))
  return rows.length
}

test('a sync runs through a long read of every table, which sees one state from beginning to end', async () => {
  const { warehouse, sync } = await begun()
  const client = await reader(warehouse)
  await client.query('begin isolation level repeatable read')
  expect(await readAll(client)).toBeGreaterThan(70)
  await client.query(`declare slow no scroll cursor for
    select timesheet_id, (select count(*) from star.fact_timelog) as logs from star.fact_timesheet`)
  const before = (await client.query('fetch 100 from slow')).rows
  // A lock that no reader may hold meanwhile would keep this from ending.
  expect((await sync()).failure).toBeUndefined()
  expect(await migrate(warehouse.engine, new Date().toISOString())).toBe(false)
  const after = (await client.query('fetch all from slow')).rows
  const ids = new Set([...before, ...after].map(row => row.timesheet_id))
  expect(ids.size).toBe(before.length + after.length)
  const seen = await countOf(client)
  expect([ids.size, seen]).toEqual([300, 300])
  await client.query('commit')
  expect(await countOf(client)).toBe(400)
  await client.end()
})

test('readers are not blocked by the transaction of a sync, and see the rows from before it', async () => {
  const { warehouse, sync } = await begun()
  const barrier = await Barrier.put(warehouse.address)
  await barrier.close()
  const running = sync()
  const pid = await barrier.waiting()
  const client = await reader(warehouse)
  expect(await readAll(client)).toBeGreaterThan(70)
  expect(await countOf(client)).toBe(300)
  // The lock by which merges take turns lets readers in, and no row of theirs is in its table.
  const locks = await barrier.rows<{ mode: string }>(
    `select distinct mode from pg_locks l join pg_class c on c.oid = l.relation
     join pg_namespace n on n.oid = c.relnamespace
     where l.pid = ${pid} and l.granted and nspname in ('star', 'mart', 'history', 'pii', 'ops') and c.relname <> 'migration' order by mode`,
  )
  expect(locks).toContainEqual({ mode: 'RowExclusiveLock' })
  expect(locks.map(({ mode }) => mode).filter(mode => /^(Access|Share)?(Row)?Exclusive/.test(mode))).toEqual([
    'RowExclusiveLock',
  ])
  await barrier.open()
  expect((await running).failure).toBeUndefined()
  expect(await countOf(client)).toBe(400)
  await client.end()
  await barrier.remove()
})
