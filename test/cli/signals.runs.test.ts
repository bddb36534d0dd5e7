/** SIGTERM and SIGINT end a command within five seconds, whatever it does, with exit code 75 and nothing half-written. */
import { cpSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { type Built, start } from '../support/built-program.ts'
import { temporaryFolder } from '../support/captured-world.ts'
import { thorough } from '../support/long-suite.ts'
import { openPlace, type Place } from '../support/synced-warehouse.ts'
import { syncOnce, useEngines } from '../support/warehouse-fixture.ts'

let place: Place
const made = useEngines()

beforeAll(async () => {
  place = await openPlace()
  expect((await place.command('sync sites --quiet')).code).toBe(0)
})

const environment = (warehouse: string) => ({
  MUSTER_BASE_URL: place.sandbox.url,
  MUSTER_API_KEY: sandboxKeys.company,
  MUSTER_WAREHOUSE: warehouse,
})

async function expectSoon(built: Built, signal: NodeJS.Signals): Promise<void> {
  built.signal(signal)
  const { code, err, milliseconds } = await built.ended
  expect({ code, err }).toEqual({
    code: 75,
    err: expect.stringMatching(/^(.*\n)*muster: stopped (by SIG(TERM|INT)|as asked): [^\n]*\n$/),
  })
  expect(milliseconds).toBeLessThan(5000)
}

const leftIn = (folder: string) => readdirSync(folder).filter(name => name.startsWith('.muster-'))

/** A folder with a copy of the synced warehouse, in which whatever reads the sites takes hours. */
async function endless(): Promise<string> {
  const cwd = temporaryFolder()
  cpSync(dirname(place.file), cwd, { recursive: true })
  const engine = await openDuckdb(join(cwd, 'w.duckdb'))
  await engine.run('alter table star.dim_site rename to site_rows')
  await engine.run(`create view star.dim_site as select s.* from star.site_rows s, range(1000000) a, range(1000000) b
    where hash(a.range, b.range) > 0`)
  await engine.close()
  return cwd
}

test.each(thorough ? ['check', 'publish', 'build', 'export --parquet out', 'docs', 'sync sites'] : ['check'])(
  '%s is interrupted in a statement that would take hours',
  async line => {
    const cwd = await endless()
    const built = start(line, { cwd, env: environment('duckdb:w.duckdb') })
    await new Promise(resolve => setTimeout(resolve, 2500))
    await expectSoon(built, 'SIGTERM')
    expect(leftIn(cwd)).toEqual([])
  },
)

test.runIf(thorough)('a statement on a server is cancelled there as well', async () => {
  const warehouse = await made.postgres()
  await syncOnce(place.sandbox, warehouse, { request: { resources: ['sites'] } })
  const { engine } = warehouse
  await engine.run('alter table star.dim_site rename to site_rows')
  await engine.run(
    'create view star.dim_site as select s.* from star.site_rows s, (select pg_sleep(3600)) as slow',
  )
  const built = start('check', { cwd: temporaryFolder(), env: environment(warehouse.address) })
  const asleep = () =>
    engine.rows(
      `select pid from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`,
    )
  await expect.poll(asleep, { timeout: 30_000 }).toHaveLength(1)
  await expectSoon(built, 'SIGINT')
  expect(await asleep()).toEqual([])
  const runs = await engine.rows(`select state from ops.run where command = 'check'`)
  expect(runs).toEqual([{ state: 'failed' }])
})

test.runIf(thorough)('a signal that comes while the program loads is heeded as well', async () => {
  for (const after of [60, 120, 250, 500]) {
    const built = start('sync', { cwd: temporaryFolder(), env: environment('duckdb:w.duckdb') })
    await new Promise(resolve => setTimeout(resolve, after))
    built.signal('SIGTERM')
    const { code, milliseconds } = await built.ended
    // Before the first line of the program has run, the system ends it.
    expect([75, null]).toContain(code)
    expect(milliseconds).toBeLessThan(5000)
  }
})

test.runIf(thorough)('a second signal ends it at once', async () => {
  const built = start('check', { cwd: await endless(), env: environment('duckdb:w.duckdb') })
  await new Promise(resolve => setTimeout(resolve, 2500))
  built.signal('SIGTERM')
  await new Promise(resolve => setTimeout(resolve, 100))
  built.signal('SIGTERM')
  // Ended by the signal itself, not by winding down.
  expect(await built.ended).toMatchObject({ code: null })
})
