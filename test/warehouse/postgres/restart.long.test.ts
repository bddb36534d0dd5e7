/** A server that stops, restarts or runs out of disk space during a sync. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { DiskFull } from '../../../src/lib/errors.ts'
import { sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'
import { migrate } from '../../../src/state/migrate.ts'
import type { RunResult } from '../../../src/sync/run/run.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { openPostgres } from '../../../src/warehouse/postgres/open.ts'
import { muster } from '../../support/captured-world.ts'
import { canStart, SmallServer } from '../../support/small-postgres.ts'
import { type Dump, tables } from '../../support/warehouse-dump.ts'
import { syncOnce } from '../../support/warehouse-fixture.ts'
import { plainRecords } from '../../sync/plain-records.ts'
import { type HoldingSandbox, openHoldingSandbox } from './delayed-page.ts'

const skipped = canStart() ? '' : ' (skipped: this system does not let its users mount a small disk)'
/** Kilobytes: the programs of the server take 60,000 of them. */
const plenty = 300_000

describe.skipIf(skipped !== '')(`a server of our own${skipped}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-restart-'))
  let server: SmallServer
  let sandbox: HoldingSandbox
  let undisturbed: Dump
  let runs = 0

  const open = (schemaPrefix: string): Promise<Engine> =>
    openPostgres(
      { url: server.url, shown: 'postgres://shown' },
      { scratch: join(folder, 'tmp'), schemaPrefix },
    )

  /** Each warehouse is a prefix of its own. */
  async function sync(schemaPrefix: string, resources = ['timesheets']): Promise<RunResult> {
    const engine = await open(schemaPrefix)
    runs += 1
    const warehouse = {
      engine,
      address: server.url,
      landing: join(folder, schemaPrefix),
      close: async () => undefined,
      open: async () => undefined,
    }
    try {
      return await syncOnce(sandbox, warehouse, {
        request: { resources },
        effects: { rng: () => runs / 1000 },
      })
    } finally {
      await engine.close()
    }
  }

  async function look<Result>(prefix: string, work: (engine: Engine) => Promise<Result>): Promise<Result> {
    const engine = await open(prefix)
    try {
      return await work(engine)
    } finally {
      await engine.close()
    }
  }

  async function status(MUSTER_SCHEMA_PREFIX: string): Promise<string> {
    const env = {
      ...{ MUSTER_BASE_URL: sandbox.url, MUSTER_API_KEY: sandboxKeys.company },
      ...{ MUSTER_WAREHOUSE: server.url, MUSTER_SCHEMA_PREFIX },
    }
    return (await muster('status', { clock: systemClock, cwd: folder, env })).out
  }

  const states = (prefix: string) =>
    look(prefix, async engine =>
      (await engine.rows<{ state: string }>('select state from ops.run order by started_at')).map(
        ({ state }) => state,
      ),
    )

  beforeAll(async () => {
    server = await SmallServer.start(20_000 + (process.pid % 30_000), plenty)
    sandbox = await openHoldingSandbox({
      records: plainRecords({ timesheets: 900 }),
      rateLimitPerDay: 1_000_000,
    })
    expect((await sync('calm_')).failure).toBeUndefined()
    undisturbed = await look('calm_', tables)
  }, 60_000)

  afterAll(async () => {
    await server?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('that restarts between two pages is reconnected', async () => {
    const page = sandbox.hold('3')
    const running = sync('restarted_')
    await page.asked
    await server.down()
    await server.up()
    page.release()
    expect((await running).failure).toBeUndefined()
    expect(await look('restarted_', tables)).toEqual(undisturbed)
  }, 60_000)

  test('that stays down leaves a run without an end, which the next run records', async () => {
    const page = sandbox.hold('3')
    const running = sync('away_')
    await page.asked
    await server.down()
    page.release()
    expect((await running).failure?.message).toMatch(
      /^timesheets failed: the connection was refused: no server listens there \(postgres:\/\/shown\): check/,
    )
    await server.up()
    expect(await states('away_')).toEqual(['running'])
    expect((await sync('away_')).failure).toBeUndefined()
    expect(await states('away_')).toEqual(['failed', 'done'])
    expect(await look('away_', tables)).toEqual(undisturbed)
  }, 60_000)

  /** Of the longer one the log takes the rest: the server crashes, and cannot start before there is more room. */
  test.each([200, 700])(
    'whose disk has room for %d KB',
    async room => {
      const prefix = `full${room}_`
      await look(prefix, engine => migrate(engine, new Date().toISOString()))
      await server.leave(room)
      const { failure, resources } = await sync(prefix, ['timesheets', 'access-rules'])
      expect(failure).toBeInstanceOf(DiskFull)
      expect(failure?.message).toMatch(
        /^the disk of the server is full \(postgres:\/\/shown\): free some space and run/,
      )
      // What else there is could not be kept either.
      expect(resources.map(({ resource }) => resource)).toEqual(['timesheets'])
      await server.resize(plenty)
      // If it crashed.
      await server.up().catch(() => undefined)
      const halfway = await look(prefix, engine => tables(engine, ['star.fact_timesheet']))
      const whole = new Set(undisturbed['star.fact_timesheet'])
      expect((halfway['star.fact_timesheet'] ?? []).filter(row => !whole.has(row))).toEqual([])
      expect(await status(prefix)).toMatch(
        /timesheets .*failed.*the disk of the server is full|run \S+ died without finishing/,
      )
      expect((await sync(prefix)).failure).toBeUndefined()
      expect(await states(prefix)).toEqual(['failed', 'done'])
      expect(await look(prefix, tables)).toEqual(undisturbed)
    },
    60_000,
  )
})
