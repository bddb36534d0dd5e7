/** The landed pages alone rebuild the warehouse: the same rows, the same times and runs, and not one request. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { replay } from '../../src/app/rebuild/replay.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { defaultLimits } from '../../src/load/page/record-limits.ts'
import { mutateWorld } from '../../src/sandbox/live/mutate-world.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { muster } from '../support/captured-world.ts'
import { thorough } from '../support/long-suite.ts'
import { oneList } from '../support/one-list.ts'
import { tables } from '../support/warehouse-dump.ts'
import { describeOnEngines, rowsTouched, syncOnce } from '../support/warehouse-fixture.ts'

/** One of each way of reading. */
const request = { resources: ['projects', 'timesheets', 'user-permissions', 'metric-rows', 'assignments'] }

async function expenses(folder: string): Promise<number> {
  const engine = await openDuckdb(join(folder, 'data', 'muster.duckdb'), { readOnly: true })
  try {
    const [row] = await engine.rows<{ n: number }>('select count(*) as n from star.fact_expense')
    return Number(row!.n)
  } finally {
    await engine.close()
  }
}

describeOnEngines('replay', bench => {
  test('gives the same rows, of folders and of archives', async () => {
    const sandbox = await openSandbox({ scale: 0.02, rateLimitPerDay: 1_000_000 })
    const warehouse = await bench.warehouse()
    await syncOnce(sandbox, warehouse, { request })
    mutateWorld(sandbox.world, { rng: seededRng(7), nowMs: Date.UTC(2026, 10, 3), count: 60 })
    await syncOnce(sandbox, warehouse, { request })
    const asked = sandbox.requests.length
    const rebuilt = await bench.warehouse()
    const outcome = await replay(
      rebuilt.engine,
      { root: warehouse.landing, limits: defaultLimits },
      () => undefined,
    )
    expect(outcome.records).toBeGreaterThan(150)
    expect(sandbox.requests.length).toBe(asked)
    const was = await tables(warehouse.engine)
    expect(Object.keys(was).some(name => name.startsWith('history.'))).toBe(true)
    expect(await tables(rebuilt.engine)).toEqual(was)
    const read = 'select timesheet_id, loaded_at, first_loaded_at, run_id from star.fact_timesheet order by 1'
    expect(await rebuilt.engine.rows(read)).toEqual(await warehouse.engine.rows(read))
  })
})

describeOnEngines('replay of what is gone', bench => {
  test('gives its history the time that the sync gave it', async () => {
    const warehouse = await bench.warehouse()
    const rules = ['r1', 'r2'].map(id => ({ id, a: 'admin', can: 'view', type: 'RBAC' }))
    const list = await oneList('/access-rule-mappings', rules)
    let at = Date.UTC(2026, 2, 1)
    // Every look at the clock takes a second.
    const clock = { now: () => (at += 1000), sleep: async () => undefined }
    const read = () =>
      syncOnce(list, warehouse, { request: { resources: ['access-rules'] }, effects: { clock } })
    await read()
    list.records = list.records.slice(1)
    expect(rowsTouched(await read())).toBe(1)
    const rebuilt = await bench.warehouse()
    await replay(rebuilt.engine, { root: warehouse.landing, limits: defaultLimits }, () => undefined)
    const gone = 'select access_rule_id, valid_to, run_id from history.dim_access_rule'
    expect(await rebuilt.engine.rows(gone)).toEqual(await warehouse.engine.rows(gone))
    expect(await warehouse.engine.rows(gone)).toHaveLength(1)
  })
})

test.runIf(thorough)('a replay of incomplete pages changes nothing without --accept-loss', async () => {
  const sandbox = await openSandbox({ scale: 0.02, rateLimitPerDay: 1_000_000 })
  const env = { MUSTER_BASE_URL: sandbox.url, MUSTER_API_KEY: 'sandbox-company-key' }
  // Runs are named for their start, so this world's clock must go.
  const clock = systemClock
  const first = await muster('sync users expenses --quiet', { env, clock })
  expect(first.code).toBe(0)
  const world = { env, clock, cwd: first.cwd }
  const rebuilt = await muster('replay', world)
  expect(rebuilt).toMatchObject({ code: 0, out: expect.stringContaining('0 requests') })
  const landing = join(first.cwd, 'data', 'muster.landing')
  for (const scan of readdirSync(landing))
    if (scan.includes('expenses')) rmSync(join(landing, scan), { recursive: true })
  const refused = await muster('replay', world)
  expect(refused.code).toBe(3)
  expect(refused.err).toMatch(/22 of star.fact_expense would be missing .*: nothing was changed/)
  expect(await expenses(first.cwd)).toBeGreaterThan(0)
  expect((await muster('replay --accept-loss', world)).code).toBe(0)
  expect(await expenses(first.cwd)).toBe(0)
})
