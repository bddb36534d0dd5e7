/**
 * `npm run bench -- spark`: the marts of several connections on Spark, from one lake, beside those that DuckDB builds. Needs Java,
 * Maven and PyPI.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { publishToLake } from '../../src/lake/publish.ts'
import { openLake } from '../../src/lake/store.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { defaultDays } from '../../src/lib/day-rule.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { sparkMarts } from '../../src/marts/spark/statements.ts'
import { sparkFiles } from '../../src/semantic/spark-project.ts'
import { newRunId, recordRun } from '../../src/state/runs/runs.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { sparkPlace } from '../support/spark.ts'
import { type Figures, script } from './marts.ts'
import { seconds } from './sync-run.ts'

interface MartTimes {
  /** Milliseconds of each mart, over all connections. */
  readonly marts: Map<string, number>
  ms: number
  peakMegabytes: number
}

const nothing = (): MartTimes => ({ marts: new Map(), ms: 0, peakMegabytes: 0 })

function count({ marts }: MartTimes, name: string, ms: number): void {
  marts.set(name, (marts.get(name) ?? 0) + ms)
}

async function publish(file: string, connection: string, folder: string): Promise<void> {
  const engine = await openDuckdb(file)
  // Each file begins with the same run, which would make them one warehouse.
  await recordRun(engine, {
    runId: `0000-${connection}`,
    command: 'sync',
    arguments: '',
    startedAt: '2026-11-01T00:00:00Z',
    version: 'bench',
  })
  const store = openLake({ folder })
  await publishToLake({
    ...{ engine, store, connection, clock: systemClock, retentionDays: 30 },
    runId: newRunId(systemClock, Math.random),
    signal: new AbortController().signal,
    schemas: ['star', 'history', 'ops', 'mart'],
  })
  store.close()
  await engine.close()
}

/** One warehouse a connection: built by DuckDB, published, and removed. */
async function fillLake(folder: string, names: readonly string[], timesheets: number): Promise<MartTimes> {
  const spent = nothing()
  for (const name of names) {
    const file = join(folder, `${name}.duckdb`)
    await script('star-rows.ts', [file, String(Math.round(timesheets / names.length))])
    const figures = (await script<Figures>('marts-build.ts', [file])) as Figures
    for (const { name, milliseconds } of figures.marts) count(spent, name, milliseconds)
    spent.ms += figures.ms
    spent.peakMegabytes = Math.max(spent.peakMegabytes, figures.peakMegabytes)
    await publish(file, name, join(folder, 'lake'))
    rmSync(file)
    console.log(`  ${name}: ${seconds(figures.ms)} s on DuckDB, published`)
  }
  return spent
}

function writeProject(folder: string, names: readonly string[]): void {
  const connections = names.map(name => ({ name, days: defaultDays, fiscalMonth: 4 }))
  for (const { path, content } of sparkFiles(sparkMarts(readMarts()), connections)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

/** The most memory that a process has had, in megabytes; 0 when it has ended. Linux only. */
function peakOf(process: number): number {
  try {
    const [, kilobytes = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${process}/status`, 'utf8')) ?? []
    return Number(kilobytes) / 1024
  } catch {
    return 0
  }
}

async function computeOnSpark(folder: string): Promise<MartTimes> {
  const { environment, jars } = sparkPlace()
  const spent = nothing()
  const started = performance.now()
  const given = ['--lake', join(folder, 'lake'), '--out', join(folder, 'out'), '--today', '2026-11-02']
  const child = spawn(
    join(environment, 'bin/spark-submit'),
    ['--master', 'local[2]', '--driver-memory', '4g', '--jars', jars, join(folder, 'run.py'), ...given],
    { env: { ...process.env, PYSPARK_PYTHON: join(environment, 'bin/python') } },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', part => (said += part))
  const look = setInterval(() => {
    spent.peakMegabytes = Math.max(spent.peakMegabytes, Math.round(peakOf(child.pid ?? 0)))
  }, 1_000)
  const code = await new Promise<number | null>(resolve => child.once('close', resolve))
  clearInterval(look)
  for (const [, name = '', took] of said.matchAll(/ mart\.(\w+): written in ([\d.]+) s/g))
    count(spent, name, 1000 * Number(took))
  spent.ms = performance.now() - started
  if (code !== 0)
    console.log(
      said
        .split('\n')
        .filter(line => / mart\.\w+: (?!written)/.test(line))
        .join('\n'),
    )
  return spent
}

export async function benchSpark(timesheets: number, connections: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'))
  const names = Array.from({ length: connections }, (_, number) => `c${number}`)
  try {
    console.log(`${timesheets.toLocaleString('en')} timesheets over ${connections} connections:`)
    const duckdb = await fillLake(folder, names, timesheets)
    writeProject(folder, names)
    const spark = await computeOnSpark(folder)
    for (const [name, ms] of spark.marts)
      console.log(
        `  ${name.padEnd(28)} ${seconds(ms).padStart(8)} s on Spark ${seconds(duckdb.marts.get(name) ?? 0).padStart(8)} s on DuckDB`,
      )
    for (const [engine, { ms, peakMegabytes }] of Object.entries({ Spark: spark, DuckDB: duckdb }))
      console.log(`  ${engine}: ${seconds(ms)} s in all, peak memory ${peakMegabytes} MB`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
