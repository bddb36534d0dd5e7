/** `npm run bench -- marts`: all marts rebuilt over 1,000,000 timesheets in DuckDB, in a process of its own. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MartResult } from '../../src/marts/build.ts'
import { root } from './root.ts'
import { median, run, seconds } from './sync-run.ts'

/** What `marts-build.ts` prints. */
export interface Figures {
  readonly ms: number
  readonly cpuMs: number
  readonly peakMegabytes: number
  readonly marts: readonly MartResult[]
}

/** What a script of this folder prints, as JSON. */
export async function script<Result>(name: string, args: readonly string[]): Promise<Result | undefined> {
  const { stdout } = await run(process.execPath, ['--import', 'tsx', `test/bench/${name}`, ...args], {
    cwd: root,
    maxBuffer: 1e8,
  })
  return stdout === '' ? undefined : (JSON.parse(stdout) as Result)
}

function print(rounds: readonly Figures[], count: number): void {
  const [{ marts } = { marts: [] }] = rounds
  for (const { name, state, rows, message } of marts) {
    const ms = median(rounds.map(round => round.marts.find(mart => mart.name === name)?.milliseconds ?? 0))
    const note = state === 'built' ? '' : `  ${state}: ${message}`
    console.log(
      `  ${name.padEnd(22)} ${seconds(ms)} s  ${(rows ?? 0).toLocaleString('en').padStart(9)} rows${note}`,
    )
  }
  const total = median(rounds.map(({ ms }) => ms))
  const peak = Math.max(...rounds.map(({ peakMegabytes }) => peakMegabytes))
  console.log(
    `${marts.length} marts over ${count.toLocaleString('en')} timesheets, median of ${rounds.length}: ${seconds(total)} s, peak memory ${peak} MB`,
  )
}

/** The first build makes the tables, the others replace their rows, as every build does. */
export async function buildAll(count: number, rounds: number): Promise<void> {
  const kept = process.env.MUSTER_BENCH_STAR
  const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'))
  const file = kept ?? join(folder, 'bench.duckdb')
  try {
    if (!existsSync(file)) await script('star-rows.ts', [file, String(count)])
    await script<Figures>('marts-build.ts', [file])
    const figures: Figures[] = []
    for (let round = 0; round < rounds; round += 1)
      figures.push((await script<Figures>('marts-build.ts', [file])) as Figures)
    print(figures, count)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
