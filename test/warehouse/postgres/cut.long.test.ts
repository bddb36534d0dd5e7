/** A connection that is cut anywhere in a sync: the run ends with one line or goes on, and the next one completes it. */
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openPostgres } from '../../../src/warehouse/postgres/open.ts'
import { type OpenSandbox, openSandbox } from '../../sandbox/open-sandbox.ts'
import { onServer } from '../../support/postgres-database.ts'
import { type Dump, tables } from '../../support/warehouse-dump.ts'
import { syncOnce, useEngines, type Warehouse } from '../../support/warehouse-fixture.ts'
import { plainRecords } from '../../sync/plain-records.ts'
import { type Cut, CuttingProxy } from './cutting-proxy.ts'

const made = useEngines()
let sandbox: OpenSandbox
let undisturbed: Dump
let bytes = 0
let runs = 0

async function syncThrough(warehouse: Warehouse, url: string) {
  runs += 1
  const engine = await openPostgres(
    { url, shown: 'postgres://shown' },
    { scratch: `${warehouse.landing}.tmp` },
  )
  const rng = () => runs / 1000
  try {
    return await syncOnce(
      sandbox,
      { ...warehouse, engine },
      { request: { resources: ['timesheets'] }, effects: { rng } },
    )
  } finally {
    await engine.close()
  }
}

beforeAll(async () => {
  sandbox = await openSandbox({ records: plainRecords({ timesheets: 450 }), rateLimitPerDay: 1_000_000 })
})

test('whole', async () => {
  const warehouse = await made.postgres()
  const proxy = await CuttingProxy.before(warehouse.address)
  onTestFinished(() => proxy.close())
  expect((await syncThrough(warehouse, proxy.url)).failure).toBeUndefined()
  undisturbed = await tables(warehouse.engine)
  bytes = proxy.sent
})

const lostLine = /^[^\n]*the connection to the server was lost[^\n]*$/

/** What a sync says whose connection is cut; the next one must complete the warehouse. */
async function saidWhenCut(bytes: number, cut: Cut, from?: string): Promise<string> {
  const warehouse = await made.postgres()
  const proxy = await CuttingProxy.before(warehouse.address)
  onTestFinished(() => proxy.close())
  proxy.cutAfter(bytes, cut, from)
  const said = await syncThrough(warehouse, proxy.url).then(
    ({ failure }) => failure?.message ?? 'done',
    error => (error as Error).message,
  )
  expect((await syncThrough(warehouse, proxy.url)).failure).toBeUndefined()
  expect(await tables(warehouse.engine)).toEqual(undisturbed)
  return said
}

const cuts = 40

describe.each<Cut>(['reset', 'end'])('%s', cut => {
  test.each(Array.from({ length: cuts }, (_, index) => index / cuts))(
    'after %d of the bytes',
    async share => {
      const said = await saidWhenCut(Math.ceil(bytes * share), cut)
      if (said !== 'done') expect(said).toMatch(lostLine)
    },
  )

  test.each([1, 30_000])('%d bytes after rows begin to be copied', async bytes => {
    expect(await saidWhenCut(bytes, cut, 'from stdin')).toMatch(lostLine)
  })
})

const many = 3_000_000

/** As an administrator ends it: the server says so before it closes the connection. */
async function endWhile(query: string): Promise<void> {
  const end = `select count(pg_terminate_backend(pid)) as ended from pg_stat_activity where query like '${query}'
    and state = 'active' and pid <> pg_backend_pid()`
  const ended = async () => Number((await onServer<{ ended: string }>(end))[0]?.ended)
  await expect.poll(ended, { interval: 1, timeout: 60_000 }).toBe(1)
}

test('a backend that is ended while it receives rows', async () => {
  const { engine } = await made.postgres()
  const columns = [{ name: 'a', sql: 'bigint' }]
  const make = `create or replace temp table ended_receiving as select range as a from range(${many})`
  const transfer = engine.send([{ name: 'ended_receiving', columns, make }])
  const receiving = engine.transaction(inner => inner.receive(transfer)).catch(error => error as Error)
  await endWhile('copy ended_receiving (%from stdin%')
  expect(String((await receiving) as Error)).toMatch(/the connection to the server was lost/)
  expect(await engine.rows('select 1 as one')).toEqual([{ one: 1 }])
})

test('a backend that is ended while it sends rows', async () => {
  const { engine } = await made.postgres()
  const columns = [{ name: 'a', sql: 'bigint' }]
  const select = `select a from generate_series(1, ${many}) as ended_sending(a)`
  const sending = engine.sendToStage('sent', columns, select).catch(error => error as Error)
  await endWhile('copy (select a from generate_series(1, %ended_sending%to stdout%')
  expect(String(await sending)).toMatch(/the connection to the server was lost/)
  // The server says why before it closes the connection: a statement between the two meets the close.
  const one = () => engine.rows('select 1 as one').catch(String)
  await expect.poll(one, { timeout: 10_000 }).toEqual([{ one: 1 }])
})
