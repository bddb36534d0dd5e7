/** A build on a server: two transactions at once, and one where the server takes no second connection. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { buildMarts } from '../../src/marts/build.ts'
import { type MartGate, openGate } from '../../src/marts/rebuild.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { temporaryFolder } from '../support/captured-world.ts'
import { type Database, database, onServer } from '../support/postgres-database.ts'
import { structureName } from '../support/warehouse-fixture.ts'
import { companyMart } from './company-mart.ts'

const role = `lone_builder_${process.pid}`
const marts = ['a', 'b', 'c'].map(name => companyMart(name))
let warehouse: Database

beforeAll(async () => {
  warehouse = await database(structureName())
  const owner = new URL(warehouse.url).username
  // No limit holds for a superuser.
  await onServer(`create role ${role} login connection limit 1 password 'lone' in role ${owner}`)
})
afterAll(async () => {
  await warehouse.drop()
  await onServer(`drop role ${role}`)
})

async function withEngine<Result>(url: string, work: (engine: Engine) => Promise<Result>): Promise<Result> {
  const engine = await openPostgres({ url, shown: 'the warehouse' }, { scratch: temporaryFolder() })
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

const build = (engine: Engine, gate: MartGate, signal = new AbortController().signal) =>
  buildMarts(
    { engine, clock: systemClock, rng: seededRng(1), signal, version: 'test', gate, onMart: () => undefined },
    { marts, names: [], all: true },
  )

test('two marts are filled at once, each in its own transaction', async () => {
  const met: Engine[] = []
  let meet: () => void = () => undefined
  const both = new Promise<void>(resolve => {
    meet = resolve
  })
  const states = await withEngine(warehouse.url, async engine => {
    const { marts: built } = await build(engine, async own => {
      if (met.length < 2) {
        met.push(own)
        if (met.length === 2) meet()
        await both
      }
      return []
    })
    return built.map(({ state }) => state)
  })
  expect(states).toEqual(['built', 'built', 'built'])
})

test('where the server takes no second connection, one builds them all', async () => {
  const url = new URL(warehouse.url)
  url.username = role
  url.password = 'lone'
  const { marts: built } = await withEngine(url.href, engine => build(engine, openGate))
  expect(built.map(({ name, state }) => `${name}: ${state}`)).toEqual(['a: built', 'b: built', 'c: built'])
})

test('both connections end when the build is stopped, and their marts keep the previous rows', async () => {
  const stop = new AbortController()
  await withEngine(warehouse.url, async engine => {
    const before = await engine.rows(`select name, built_at from ops.mart order by name`)
    const stopped = build(
      engine,
      async () => {
        stop.abort(new Error('stopped as asked'))
        stop.signal.throwIfAborted()
        return []
      },
      stop.signal,
    )
    await expect(stopped).rejects.toThrow('stopped as asked')
    expect(await engine.rows(`select name, built_at from ops.mart order by name`)).toEqual(before)
  })
})
