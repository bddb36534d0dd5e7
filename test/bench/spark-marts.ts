/**
 * `npm run bench -- spark TIMESHEETS CONNECTIONS [COMPUTED]`: the marts of the first COMPUTED connections of a lake on Spark, beside
 * those that DuckDB builds, with what each shuffles and spills. Needs Java, Maven and PyPI.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
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
  /** Milliseconds of each mart, over the connections that were computed. */
  readonly marts: Map<string, number>
  ms: number
  peakMegabytes: number
}

const nothing = (): MartTimes => ({ marts: new Map(), ms: 0, peakMegabytes: 0 })

interface Spread {
  readonly connections: readonly string[]
  /** Those of which Spark computes the marts. */
  readonly computed: readonly string[]
  readonly timesheets: number
}

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
async function fillLake(folder: string, { connections, computed, timesheets }: Spread): Promise<MartTimes> {
  const spent = nothing()
  for (const name of connections) {
    const file = join(folder, `${name}.duckdb`)
    await script('star-rows.ts', [file, String(Math.round(timesheets / connections.length))])
    const figures = (await script<Figures>('marts-build.ts', [file])) as Figures
    const isComputed = computed.includes(name)
    if (isComputed) for (const { name, milliseconds } of figures.marts) count(spent, name, milliseconds)
    if (isComputed) spent.ms += figures.ms
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

/** Megabytes that a mart sends between the tasks of its stages, and writes to disk because memory is full. */
interface Moved {
  shuffled: number
  spilled: number
}

interface SparkEvent {
  readonly Event: string
  readonly Properties?: Readonly<Record<string, string>>
  readonly 'Stage IDs'?: readonly number[]
  readonly 'Stage ID'?: number
  readonly 'Task Metrics'?: {
    readonly 'Disk Bytes Spilled': number
    readonly 'Shuffle Write Metrics': { readonly 'Shuffle Bytes Written': number }
  }
}

/** Of each mart, over all connections, from the events that Spark writes. */
async function movedBy(events: string): Promise<ReadonlyMap<string, Moved>> {
  const marts = new Map<number, string>()
  const moved = new Map<string, Moved>()
  for (const name of readdirSync(events))
    for await (const line of createInterface(createReadStream(join(events, name)))) {
      const event = JSON.parse(line) as SparkEvent
      const [, mart] = / mart\.(\w+)/.exec(event.Properties?.['spark.job.description'] ?? '') ?? []
      if (mart !== undefined) for (const stage of event['Stage IDs'] ?? []) marts.set(stage, mart)
      const metrics = event['Task Metrics']
      const ofStage = marts.get(event['Stage ID'] ?? -1)
      if (!metrics || ofStage === undefined) continue
      const sum = moved.get(ofStage) ?? { shuffled: 0, spilled: 0 }
      sum.shuffled += metrics['Shuffle Write Metrics']['Shuffle Bytes Written'] / 1e6
      sum.spilled += metrics['Disk Bytes Spilled'] / 1e6
      moved.set(ofStage, sum)
    }
  return moved
}

async function computeOnSpark(folder: string, computed: readonly string[]): Promise<MartTimes> {
  const { environment, jars } = sparkPlace()
  const spent = nothing()
  const started = performance.now()
  const events = join(folder, 'events')
  mkdirSync(events)
  const java = ['--master', 'local[2]', '--driver-memory', '4g', '--jars', jars]
  const conf = ['--conf', 'spark.eventLog.enabled=true', '--conf', `spark.eventLog.dir=file://${events}`]
  const few = computed.flatMap(name => ['--connection', name])
  const given = [
    '--lake',
    join(folder, 'lake'),
    '--out',
    join(folder, 'out'),
    '--today',
    '2026-11-02',
    ...few,
  ]
  const child = spawn(
    join(environment, 'bin/spark-submit'),
    [...java, ...conf, join(folder, 'run.py'), ...given],
    { env: { ...process.env, PYSPARK_PYTHON: join(environment, 'bin/python') } },
  )
  const look = setInterval(() => {
    spent.peakMegabytes = Math.max(spent.peakMegabytes, Math.round(peakOf(child.pid ?? 0)))
  }, 1_000)
  const ended = once(child, 'close')
  child.stderr.resume()
  for await (const line of createInterface(child.stdout)) {
    const [, name, took] = / mart\.(\w+): written in ([\d.]+) s/.exec(line) ?? []
    if (name !== undefined) count(spent, name, 1000 * Number(took))
    console.log(`  ${line}`)
  }
  const [code] = await ended
  clearInterval(look)
  spent.ms = performance.now() - started
  if (code !== 0) console.log(`  spark-submit ended with ${code}`)
  return spent
}

function show(spark: MartTimes, duckdb: MartTimes, moved: ReadonlyMap<string, Moved>): void {
  for (const [name, ms] of spark.marts) {
    const { shuffled, spilled } = moved.get(name) ?? { shuffled: 0, spilled: 0 }
    const times = [ms, duckdb.marts.get(name) ?? 0].map(one => seconds(one).padStart(8))
    const sizes = [shuffled, spilled].map(one => one.toFixed(1).padStart(8))
    console.log(
      `  ${name.padEnd(24)}${times[0]} s on Spark${times[1]} s on DuckDB${sizes[0]} MB shuffled${sizes[1]} MB spilled`,
    )
  }
  for (const [engine, { ms, peakMegabytes }] of Object.entries({ Spark: spark, DuckDB: duckdb }))
    console.log(`  ${engine}: ${seconds(ms)} s in all, peak memory ${peakMegabytes} MB`)
}

export async function benchSpark(timesheets: number, connections: number, computed: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'))
  const names = Array.from({ length: connections }, (_, number) => `c${number}`)
  const few = names.slice(0, computed)
  try {
    console.log(`${timesheets.toLocaleString('en')} timesheets over ${connections} connections:`)
    const duckdb = await fillLake(folder, { connections: names, computed: few, timesheets })
    writeProject(folder, names)
    const spark = await computeOnSpark(folder, few)
    show(spark, duckdb, await movedBy(join(folder, 'events')))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
