/** `npm run bench -- lake`: publishes a fact to a lake; five times changes the 500 latest rows, and publishes again. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rowsPerGroup } from '../../src/lake/files.ts'
import { publishToLake } from '../../src/lake/publish.ts'
import { openLake } from '../../src/lake/store.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { newRunId, recordRun } from '../../src/state/runs/runs.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { root } from './root.ts'
import { median, seconds } from './sync-run.ts'

/** The timesheets of `star-rows.ts` with ids that begin with the second of creation, as those of the service do. */
const fact = `create table mart.fact_timesheet as select * replace (printf('%08x', cast(epoch(created_at) as bigint)) ||
  printf('%016x', cast(substr(timesheet_id, 2) as bigint)) as timesheet_id) from star.fact_timesheet`

const latest = `update mart.fact_timesheet set reference = reference || 'x' where timesheet_id in
  (select timesheet_id from mart.fact_timesheet order by timesheet_id desc limit 500)`

/** Milliseconds of DuckDB's own writing of the rows that a publication wrote. */
async function bareWriting(engine: Engine, folder: string, files: readonly string[]): Promise<number> {
  const list = files.map(file => `'${file}'`).join(', ')
  await engine.run(`create or replace temp table written as select * from read_parquet([${list}])`)
  const started = performance.now()
  await engine.run(
    `copy written to '${join(folder, 'bare.parquet')}' (format parquet, compression zstd, row_group_size ${rowsPerGroup})`,
  )
  return performance.now() - started
}

async function measure(engine: Engine, folder: string): Promise<void> {
  const [clock, signal] = [systemClock, new AbortController().signal]
  const store = openLake({ folder: join(folder, 'lake') })
  const request = { engine, store, clock, signal, connection: 'bench', retentionDays: 30 }
  const publish = async (what: string) => {
    const started = performance.now()
    let tables: readonly string[] = []
    const made = await publishToLake({
      ...request,
      schemas: ['mart'],
      runId: newRunId(clock, Math.random),
      onTable: ({ table, state, filesWritten }) => {
        const paths = [...state.files.values()].slice(-filesWritten).map(({ path }) => path)
        if (filesWritten > 0) tables = paths.map(path => join(folder, 'lake', table, path))
      },
    })
    const ms = performance.now() - started
    console.log(
      `  ${what}: ${seconds(ms)} s, ${made.filesWritten} files, ${(made.bytesWritten / 1e6).toFixed(2)} MB`,
    )
    return { ms, bytes: made.bytesWritten, files: tables }
  }
  const first = await publish('all')
  const rounds: {
    readonly none: number
    readonly ms: number
    readonly bytes: number
    readonly bare: number
  }[] = []
  // What is written takes less than two comparisons differ, so one round would say nothing of it.
  for (let round = 1; round <= 5; round += 1) {
    const none = await publish('nothing new')
    await engine.run(latest)
    const { ms, bytes, files } = await publish('500 changed')
    rounds.push({ none: none.ms, ms, bytes, bare: await bareWriting(engine, folder, files) })
  }
  const share = (100 * median(rounds.map(({ bytes }) => bytes))) / first.bytes
  const bare = median(rounds.map(({ bare }) => bare))
  const beyond = median(rounds.map(({ ms, none }) => ms - none))
  console.log(
    `  500 changed, medians: ${share.toFixed(2)}% of the bytes; bare writing ${seconds(bare)} s; beyond comparing all rows ${seconds(beyond)} s, ratio ${(beyond / bare).toFixed(2)}`,
  )
  store.close()
}

export async function benchLake(count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'))
  const file = join(folder, 'bench.duckdb')
  try {
    execFileSync(process.execPath, ['--import', 'tsx', 'test/bench/star-rows.ts', file, String(count)], {
      cwd: root,
    })
    const engine = await openDuckdb(file)
    await recordRun(engine, {
      runId: newRunId(systemClock, Math.random),
      command: 'sync',
      arguments: '',
      startedAt: new Date().toISOString(),
      version: 'bench',
    })
    await engine.run(fact)
    console.log(`${count.toLocaleString('en')} timesheets in a lake:`)
    await measure(engine, folder)
    await engine.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
