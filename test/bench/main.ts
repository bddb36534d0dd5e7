/**
 * `npm run bench`: one sync of timesheets served from memory on loopback, beside the floor of the same bytes.
 * `npm run bench -- million` syncs 1,000,000 and prints the memory; `-- postgres` measures that warehouse; `-- marts` the
 * building of all marts over 1,000,000 timesheets; `-- freshness` simulates the refresh policy, and `-- nights` syncs for
 * six nights with 2,000 requests each; `-- receiver` measures how webhooks are taken in.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import { printFreshness } from './freshness.ts'
import { buildAll } from './marts.ts'
import { printNights } from './nights.ts'
import { comparePostgres } from './postgres.ts'
import { benchReceiver } from './receiver.ts'
import {
  median,
  root,
  run,
  type SyncFigures,
  seconds,
  startServer,
  syncOnce,
  type Workload,
} from './sync-run.ts'

async function floorOnce(
  url: string,
  { count, timelogs }: Workload,
): Promise<{ fetchMs: number; loadMs: number }> {
  const { stdout } = await run(
    process.execPath,
    ['--import', 'tsx', 'test/bench/floor.ts', url, String(count), timelogs],
    { cwd: root },
  )
  return JSON.parse(stdout) as { fetchMs: number; loadMs: number }
}

/** Floor and sync in turn, so that a change in the machine's speed meets both; the ratio is of their medians. */
async function compare(workload: Workload, rounds = 3): Promise<void> {
  const server = await startServer(workload)
  const floors: { fetchMs: number; loadMs: number }[] = []
  const syncs: SyncFigures[] = []
  try {
    for (let round = 0; round < rounds; round += 1) {
      floors.push(await floorOnce(server.url, workload))
      syncs.push(await syncOnce(server.url))
    }
  } finally {
    server.process.kill()
  }
  const floor = median(floors.map(({ fetchMs, loadMs }) => fetchMs + loadMs))
  const sync = median(syncs.map(({ milliseconds }) => milliseconds))
  console.log(
    `${workload.count.toLocaleString('en')} timesheets ${workload.timelogs} timelogs, median of ${rounds} rounds`,
  )
  console.log(
    `  floor  ${seconds(floor)} s   fetch ${seconds(median(floors.map(f => f.fetchMs)))} s, typed load ${seconds(median(floors.map(f => f.loadMs)))} s`,
  )
  console.log(
    `  sync   ${seconds(sync)} s   ${Math.round((workload.count / sync) * 1000).toLocaleString('en')} records/s`,
  )
  console.log(
    `  ratio  ${(sync / floor).toFixed(2).padStart(7)}     peak memory ${Math.max(...syncs.map(s => s.peakMegabytes))} MB`,
  )
}

async function million(): Promise<void> {
  const server = await startServer({ count: 1_000_000, timelogs: 'without' })
  try {
    const { milliseconds, peakMegabytes } = await syncOnce(server.url)
    console.log(`1,000,000 timesheets: ${seconds(milliseconds)} s, peak memory ${peakMegabytes} MB`)
  } finally {
    server.process.kill()
  }
}

async function nights(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'))
  const engine = await openDuckdb(join(folder, 'bench.duckdb'))
  try {
    await migrate(engine, new Date().toISOString())
    await printNights({ engine, landing: join(folder, 'bench.landing') }, line => console.log(line))
  } finally {
    await engine.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const wanted = process.argv[2] ?? 'all'
if (wanted === 'million') await million()
else if (wanted === 'marts') await buildAll()
else if (wanted === 'nights') await nights()
else if (wanted === 'freshness') printFreshness(line => console.log(line))
else if (wanted === 'receiver') await benchReceiver(Number(process.argv[3] ?? 30))
else if (wanted === 'postgres') await comparePostgres({ count: 100_000, timelogs: 'without' })
else {
  if (wanted !== 'with') await compare({ count: 100_000, timelogs: 'without' })
  if (wanted !== 'without') await compare({ count: 100_000, timelogs: 'with' })
}
