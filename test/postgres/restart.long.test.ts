/** A server that goes away, comes back, or runs out of disk while a sync runs. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunOutcome } from '../../src/sync/run.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { plainRecords } from '../sync/plain-records.ts'
import { type Dump, syncOnce, tables } from '../warehouse/fixture.ts'
import { type HoldingSandbox, openHoldingSandbox } from './held-page.ts'
import { canStart, SmallServer } from './small-server.ts'

const skipped = canStart() ? '' : ' (skipped: this system does not let its users mount a small disk)'
const request = { resources: ['timesheets'] }

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
  async function sync(schemaPrefix: string): Promise<RunOutcome> {
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
      return await syncOnce(sandbox, warehouse, { request, effects: { rng: () => runs / 1000 } })
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

  const states = (prefix: string) =>
    look(prefix, async engine =>
      (await engine.rows<{ state: string }>('select state from ops.run order by started_at')).map(
        ({ state }) => state,
      ),
    )

  beforeAll(async () => {
    server = await SmallServer.start(20_000 + (process.pid % 30_000), 96)
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

  test('that restarts between two pages is found again', async () => {
    const page = sandbox.hold('3')
    const running = sync('restarted_')
    await page.asked
    await server.down()
    await server.up()
    page.release()
    expect((await running).failure).toBeUndefined()
    expect(await look('restarted_', tables)).toEqual(undisturbed)
  }, 60_000)

  test('that stays away leaves a run without an end, which the next one records', async () => {
    const page = sandbox.hold('3')
    const running = sync('away_')
    await page.asked
    await server.down()
    page.release()
    expect((await running).failure?.message).toMatch(
      /^timesheets failed: nothing listens there: the connection was refused \(postgres:\/\/shown\): check/,
    )
    await server.up()
    expect(await states('away_')).toEqual(['running'])
    expect((await sync('away_')).failure).toBeUndefined()
    expect(await states('away_')).toEqual(['failed', 'done'])
    expect(await look('away_', tables)).toEqual(undisturbed)
  }, 60_000)

  test('whose disk is full', async () => {
    await look('full_', async engine => {
      await migrate(engine, new Date().toISOString())
      await engine.run(`create tablespace small location '${server.space}'`)
      await engine.run('alter table star.fact_timesheet set tablespace small')
    })
    expect((await sync('full_')).failure?.message).toMatch(
      /^timesheets failed: the disk of the server is full \(postgres:\/\/shown\): free some space and run/,
    )
    expect(await look('full_', engine => engine.rows('select 1 from star.fact_timesheet'))).toEqual([])
    await server.resize(20_000)
    expect((await sync('full_')).failure).toBeUndefined()
    expect(await states('full_')).toEqual(['failed', 'done'])
    expect(await look('full_', tables)).toEqual(undisturbed)
  }, 60_000)
})
