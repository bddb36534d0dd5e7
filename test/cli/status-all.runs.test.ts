/** `muster status --all`: a line a connection, from what the writers left beside their files. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { leavingOverview } from '../../src/app/connection/overview.ts'
import { migrate } from '../../src/state/migrate.ts'
import { recordDagRun } from '../../src/state/runs/dag-runs.ts'
import { startRun, updateRun } from '../../src/state/runs/runs.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'
import { database } from '../support/postgres-database.ts'

const at = '2025-12-31T22:00:00.000Z'

async function write(engine: Engine, state: 'done' | 'later' | 'failed'): Promise<void> {
  await migrate(engine, at)
  await startRun(engine, { runId: 'r1', command: 'sync', arguments: '', startedAt: at, version: '0' })
  await updateRun(engine, 'r1', { state: 'done', finished_at: at })
  const times = { started_at: at, finished_at: at }
  await recordDagRun(engine, {
    dag_run_id: 'n1',
    dag: 'nightly',
    state,
    ...times,
    reason: state === 'done' ? null : 'build: it broke',
  })
  await engine.close()
}

const openFile = async (file: string): Promise<Engine> => leavingOverview(await openDuckdb(file), file)

function place(connections: Readonly<Record<string, string>>) {
  const cwd = temporaryFolder()
  mkdirSync(join(cwd, 'config'))
  const lines = Object.entries(connections).map(
    ([name, warehouse]) => `  ${name}: { warehouse: "${warehouse}" }\n`,
  )
  writeFileSync(join(cwd, 'config/muster.yaml'), `connections:\n${lines.join('')}`)
  return { cwd, env: { PATH: '/usr/bin:/bin' } }
}

test('each connection has a line, and one that cannot be read leaves the others alone', async () => {
  const made = await database()
  const url = new URL(made.url)
  const at = place({
    well: 'duckdb:well.duckdb',
    partial: 'duckdb:partial.duckdb',
    failed: 'duckdb:failed.duckdb',
    fresh: 'duckdb:fresh.duckdb',
    broken: 'duckdb:broken.duckdb',
    server: made.url,
    wrong: 'mysql://somewhere',
  })
  await write(await openFile(join(at.cwd, 'well.duckdb')), 'done')
  await write(await openFile(join(at.cwd, 'partial.duckdb')), 'later')
  await write(await openFile(join(at.cwd, 'failed.duckdb')), 'failed')
  await write(
    await openPostgres({ url: made.url, shown: url.host }, { scratch: join(at.cwd, 'scratch') }),
    'done',
  )
  writeFileSync(join(at.cwd, 'broken.duckdb'), 'no database')
  const { code, out } = await muster('status --all', at)
  expect(code).toBe(1)
  expect(out).toMatch(/^7 connections: 2 well, 1 partial, 1 failed, 1 not synced yet, 2 unreadable$/m)
  expect(out).toMatch(/^well +2 hours ago +nightly done +0 +0 *$/m)
  expect(out).toMatch(/^failed +2 hours ago +nightly failed .*build: it broke$/m)
  expect(out).toMatch(/^server +2 hours ago +nightly done/m)
  expect(out).toMatch(/^broken .*no DuckDB file|^broken .*not a DuckDB file/m)
  expect(out).toMatch(/^wrong .*line 8: /m)
  const json = JSON.parse((await muster('status --all --json', at)).out) as {
    connection: string
    condition: string
  }[]
  expect(json.map(({ connection, condition }) => [connection, condition])).toContainEqual(['server', 'well'])
  await made.drop()
}, 60_000)

test('an overview counts for the file that it was left for, and no other', async () => {
  const at = place({ one: 'duckdb:one.duckdb' })
  const file = join(at.cwd, 'one.duckdb')
  const beside = join(at.cwd, 'one.overview.json')
  const condition = async () => JSON.parse((await muster('status --all --json', at)).out)[0].condition
  await write(await openFile(file), 'failed')
  expect(await condition()).toBe('failed')
  // Read from beside the file.
  const kept = readFileSync(beside, 'utf8')
  writeFileSync(beside, kept.replace('"state":"failed"', '"state":"done"'))
  expect(await condition()).toBe('well')
  // The file was replaced by another: what is beside it is no longer about it.
  copyFileSync(file, `${file}.copy`)
  copyFileSync(`${file}.copy`, file)
  expect(await condition()).toBe('failed')
  writeFileSync(beside, 'no json')
  expect(await condition()).toBe('failed')
  expect(JSON.parse(readFileSync(beside, 'utf8'))).toMatchObject({
    overview: { dagRuns: [{ state: 'failed' }] },
  })
})

test('200 connections are read in the blink of an eye when nothing was written', async () => {
  const names = Array.from({ length: 200 }, (_, index) => `c${index}`)
  const at = place(Object.fromEntries(names.map(name => [name, `duckdb:${name}.duckdb`])))
  const overview = { lastSync: null, sync: null, dagRuns: [], behind: [], quarantined: 0, spending: null }
  const { stampOf } = await import('../../src/app/connection/overview.ts')
  for (const name of names) {
    const file = join(at.cwd, `${name}.duckdb`)
    writeFileSync(file, 'never opened')
    writeFileSync(
      join(at.cwd, `${name}.overview.json`),
      JSON.stringify({ layout: 2, stamp: stampOf(file), overview }),
    )
  }
  const from = performance.now()
  const { code, out } = await muster('status --all', at)
  expect({ code, first: out.split('\n')[0] }).toEqual({ code: 0, first: '200 connections: 200 well' })
  expect(performance.now() - from).toBeLessThan(3000)
})
