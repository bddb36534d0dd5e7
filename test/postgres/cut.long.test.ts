/** A connection that is cut anywhere in a sync: the run ends with one line or goes on, and the next one completes it. */
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { type OpenSandbox, openSandbox } from '../sandbox/open-sandbox.ts'
import { plainRecords } from '../sync/plain-records.ts'
import { type Dump, syncOnce, tables, useEngines, type Warehouse } from '../warehouse/fixture.ts'
import { type Cut, CuttingProxy } from './cutting-proxy.ts'
import { onServer } from './database.ts'

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

const lostLine = /^[^\n]*the connection to the server was lost [^\n]*$/

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

  test.each(['from stdin', 'to stdout'])('while rows are copied %s', async direction => {
    expect(await saidWhenCut(1, cut, direction)).toMatch(lostLine)
  })

  test('in the middle of rows', async () => {
    expect(await saidWhenCut(30_000, cut, 'from stdin')).toMatch(lostLine)
  })
})

/** As an administrator ends it: the server says so before it closes the connection. */
test('a backend that is ended while it receives rows', async () => {
  const warehouse = await made.postgres()
  const database = new URL(warehouse.address).pathname.slice(1)
  const running = syncThrough(warehouse, warehouse.address)
  const end = `select count(pg_terminate_backend(pid)) as ended from pg_stat_activity
    where datname = '${database}' and state = 'active' and query ilike 'copy %from stdin%'`
  const ended = async () => Number((await onServer<{ ended: string }>(end))[0]?.ended)
  await expect.poll(ended, { interval: 1, timeout: 20_000 }).toBe(1)
  expect((await running).failure?.message).toMatch(lostLine)
  expect((await syncThrough(warehouse, warehouse.address)).failure).toBeUndefined()
  expect(await tables(warehouse.engine)).toEqual(undisturbed)
})
