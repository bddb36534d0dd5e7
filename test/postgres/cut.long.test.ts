/** A connection that is cut anywhere in a sync: the run ends with one line or goes on, and the next one completes it. */
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { type OpenSandbox, openSandbox } from '../sandbox/open-sandbox.ts'
import { plainRecords } from '../sync/plain-records.ts'
import { type Dump, syncOnce, tables, useEngines, type Warehouse } from '../warehouse/fixture.ts'
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

const cuts = 40

describe.each<Cut>(['reset', 'end'])('%s', cut => {
  test.each(Array.from({ length: cuts }, (_, index) => index / cuts))(
    'after %d of the bytes',
    async share => {
      const warehouse = await made.postgres()
      const proxy = await CuttingProxy.before(warehouse.address)
      onTestFinished(() => proxy.close())
      proxy.cutAfter(Math.ceil(bytes * share), cut)
      const said = await syncThrough(warehouse, proxy.url).then(
        ({ failure }) => failure?.message ?? 'done',
        error => (error as Error).message,
      )
      expect(said).toMatch(/^(done|[^\n]*the connection to the server was lost [^\n]*)$/)
      expect((await syncThrough(warehouse, proxy.url)).failure).toBeUndefined()
      expect(await tables(warehouse.engine)).toEqual(undisturbed)
    },
  )
})
