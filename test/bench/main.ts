/**
 * `npm run bench`: one sync of timesheets served from memory on loopback, beside the floor of the same bytes.
 * `npm run bench -- million` syncs 1,000,000 and prints the memory.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = new URL('../../', import.meta.url).pathname

interface Workload {
  readonly count: number
  readonly timelogs: 'with' | 'without'
}

async function startServer({ count, timelogs }: Workload): Promise<{ process: ChildProcess; url: string }> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', 'test/bench/server.ts', String(count), timelogs],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const lines = createInterface({ input: child.stdout })
  const url = await new Promise<string>(resolve => lines.once('line', resolve))
  return { process: child, url }
}

interface SyncFigures {
  readonly milliseconds: number
  readonly peakMegabytes: number
}

/** The warehouse exists before the clock starts, as the empty tables of the floor do. */
async function syncOnce(url: string): Promise<SyncFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'))
  const env = {
    ...process.env,
    MUSTER_BASE_URL: url,
    MUSTER_API_KEY: 'bench',
    MUSTER_WAREHOUSE: `duckdb:${join(folder, 'bench.duckdb')}`,
  }
  const muster = (resource: string) =>
    run(process.execPath, [join(root, 'dist/main.js'), 'sync', resource, '--json', '--quiet'], {
      env,
      cwd: folder,
      maxBuffer: 1e8,
    })
  try {
    await muster('users')
    const { stdout } = await muster('timesheets')
    return JSON.parse(stdout) as SyncFigures
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

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

const seconds = (ms: number): string => (ms / 1000).toFixed(2).padStart(7)
const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

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

const wanted = process.argv[2] ?? 'all'
if (wanted === 'million') await million()
else {
  if (wanted !== 'with') await compare({ count: 100_000, timelogs: 'without' })
  if (wanted !== 'without') await compare({ count: 100_000, timelogs: 'with' })
}
