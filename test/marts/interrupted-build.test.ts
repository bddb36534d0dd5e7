/** Readers and a build: nobody waits, and nobody sees a mart that is half there, also when the build dies. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { type BuildResult, buildMarts } from '../../src/marts/build.ts'
import type { Mart } from '../../src/marts/mart.ts'
import { type MartGate, openGate } from '../../src/marts/rebuild.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { thorough } from '../support/long-suite.ts'
import { describeOnEngines, useEngines, type Warehouse } from '../support/warehouse-fixture.ts'
import { companyMart } from './company-mart.ts'

let runs = 0

function build(
  { engine }: Warehouse,
  marts: readonly Mart[],
  gate: MartGate = openGate,
): Promise<BuildResult> {
  runs += 1
  const effects = { clock: systemClock, rng: seededRng(runs), version: 'test', onMart: () => undefined }
  const signal = new AbortController().signal
  return buildMarts({ engine, gate, signal, ...effects }, { marts, names: [], all: true })
}

const addCompany = ({ engine }: Warehouse, id: string): Promise<number> =>
  engine.run(`insert into star.dim_company (company_id, is_deleted) values ('${id}', false)`)

const ids = async ({ engine }: Warehouse, name: string): Promise<string[]> =>
  (await engine.rows<{ id: string }>(`select id from mart.${name} order by id`)).map(({ id }) => id)

async function die(address: string, mart: string, column = ''): Promise<void> {
  const script = fileURLToPath(new URL('dying-build.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', script, address, mart, column], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
}

describeOnEngines('a build that is killed', bench => {
  test.runIf(thorough)('leaves every mart as it was before, or as it is meant to be', async () => {
    const warehouse = await bench.warehouse()
    await addCompany(warehouse, 'c1')
    const marts = [companyMart('a'), companyMart('b')]
    await build(warehouse, marts)
    await addCompany(warehouse, 'c2')
    await warehouse.close()
    await die(warehouse.address, 'b')
    await warehouse.open()
    expect([await ids(warehouse, 'a'), await ids(warehouse, 'b')]).toEqual([['c1', 'c2'], ['c1']])
    await warehouse.close()
    await die(warehouse.address, 'b', 'more text: A shape that differs.')
    await warehouse.open()
    expect(await ids(warehouse, 'b')).toEqual(['c1'])
    expect(await warehouse.engine.rows(`select state from ops.mart order by name`)).toEqual([
      { state: 'built' },
      { state: 'built' },
    ])
    const outcome = await build(warehouse, marts)
    expect(outcome.marts.map(({ state }) => state)).toEqual(['built', 'built'])
    expect(await ids(warehouse, 'b')).toEqual(['c1', 'c2'])
    const lost = await warehouse.engine.rows(`select distinct message from ops.run where state = 'failed'`)
    expect(lost).toEqual([{ message: 'the process died without finishing' }])
  })
})

const made = useEngines()

async function reader(warehouse: Warehouse): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: warehouse.address })
  await client.connect()
  await client.query(`set statement_timeout = '5s'; set lock_timeout = '1s'`)
  return client
}

test('a reader of PostgreSQL sees the previous rows until the commit, without waiting', async () => {
  const warehouse = await made.postgres()
  await addCompany(warehouse, 'c1')
  await build(warehouse, [companyMart('a')])
  await addCompany(warehouse, 'c2')
  const client = await reader(warehouse)
  const seen = async (): Promise<string> =>
    (await client.query('select string_agg(id, $1 order by id) as ids from mart.a', [','])).rows[0].ids
  const during: string[] = []
  const look: MartGate = async engine => {
    during.push(await seen())
    expect(await engine.rows('select count(*) as n from mart.a')).toEqual([{ n: 2 }])
    return []
  }
  await client.query('begin isolation level repeatable read')
  expect(await seen()).toBe('c1')
  // The reader's transaction holds its lock on the table all the while.
  await build(warehouse, [companyMart('a')], look)
  expect([during, await seen()]).toEqual([['c1'], 'c1'])
  await client.query('commit')
  expect(await seen()).toBe('c1,c2')
  await client.end()
})

test('a build that lost its lease to another leaves the rows of the mart', async () => {
  const warehouse = await made.duckdb()
  await addCompany(warehouse, 'c1')
  await build(warehouse, [companyMart('a')])
  await addCompany(warehouse, 'c2')
  const loseLease: MartGate = async engine => {
    await engine.run(`update ops.lease set epoch = epoch + 1`)
    return []
  }
  const { marts } = await build(warehouse, [companyMart('a')], loseLease)
  expect(marts).toMatchObject([{ state: 'failed', message: expect.stringContaining('has taken over') }])
  expect(await ids(warehouse, 'a')).toEqual(['c1'])
})

test('a table that changes its shape keeps its grants; a foreign view keeps the table', async () => {
  const warehouse = await made.postgres()
  const { engine } = warehouse
  await addCompany(warehouse, 'c1')
  await build(warehouse, [companyMart('a')])
  await engine.run('grant select on mart.a to pg_monitor with grant option')
  await engine.run('grant select on mart.a to public')
  const wider = companyMart('a', { columns: ['more text: A column that is new.'] })
  const client = await reader(warehouse)
  await build(warehouse, [wider])
  const grants = `select grantee, is_grantable from information_schema.role_table_grants
    where table_schema = 'mart' and table_name = 'a' and grantee in ('PUBLIC', 'pg_monitor') order by grantee`
  expect(await engine.rows(grants)).toEqual([
    { grantee: 'PUBLIC', is_grantable: 'NO' },
    { grantee: 'pg_monitor', is_grantable: 'YES' },
  ])
  expect((await client.query('select id, more from mart.a')).rows).toEqual([{ id: 'c1', more: null }])
  await client.query('create view public.report as select id, more from mart.a')
  const { marts } = await build(warehouse, [companyMart('a')])
  expect(marts).toMatchObject([{ state: 'failed', message: expect.stringContaining('depend') }])
  expect((await client.query('select id, more from public.report')).rows).toEqual([{ id: 'c1', more: null }])
  await client.end()
})

test('the second of two simultaneous builds on one server reports that the first is at work', async () => {
  const warehouse = await made.postgres()
  const second = await openPostgres(
    { url: warehouse.address, shown: 'the same database' },
    { scratch: `${warehouse.landing}.second` },
  )
  await build(warehouse, [companyMart('a')], async () => {
    await expect(build({ ...warehouse, engine: second } as Warehouse, [companyMart('a')])).rejects.toThrow(
      /mart is being built by \S+ .*wait for it to end/,
    )
    return []
  })
  await second.close()
})
