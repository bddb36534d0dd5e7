/** A bench's service as a process of its own, and one sync from it by the built program. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { root } from './root.ts'
import { measured } from './spent.ts'

export const run = promisify(execFile)

export interface Workload {
  readonly count: number
  readonly timelogs: 'with' | 'without'
  /** How many were changed after all others were created. */
  readonly changed?: number
  /** How many older ones the list claims and cannot show. */
  readonly older?: number
}

export async function startServer({
  count,
  timelogs,
  changed = 0,
  older = 0,
}: Workload): Promise<{ process: ChildProcess; url: string }> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', 'test/bench/server.ts', String(count), timelogs, String(changed), String(older)],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const lines = createInterface({ input: child.stdout })
  const url = await new Promise<string>(resolve => lines.once('line', resolve))
  return { process: child, url }
}

export interface SyncFigures {
  /** From the start of the program to its end, the closing of the warehouse included, less what `muster sync --help` takes. */
  readonly milliseconds: number
  /** Of the processor, all threads, less what `muster sync --help` takes. */
  readonly cpuSeconds: number
  readonly peakMegabytes: number
}

/** The warehouse exists before the clock starts, as the empty tables of the floor do. */
export async function syncOnce(url: string, warehouse?: string): Promise<SyncFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'))
  const env = {
    MUSTER_BASE_URL: url,
    MUSTER_API_KEY: 'bench',
    MUSTER_WAREHOUSE: warehouse ?? `duckdb:${join(folder, 'bench.duckdb')}`,
  }
  const muster = async (...args: string[]) => {
    const started = performance.now()
    const spent = await measured([join(root, 'dist/main.js'), 'sync', ...args, '--quiet'], env, folder)
    return { ...spent, ms: performance.now() - started }
  }
  try {
    await muster('users')
    const start = await muster('--help')
    const sync = await muster('timesheets')
    return {
      milliseconds: sync.ms - start.ms,
      cpuSeconds: sync.cpu - start.cpu,
      peakMegabytes: sync.megabytes,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const seconds = (ms: number): string => (ms / 1000).toFixed(2).padStart(7)
export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
