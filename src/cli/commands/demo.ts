/** `muster demo`: shows the program in a minute: sandbox, first sync, changes at the source, second sync, marts. */
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '../../api/client/client.ts'
import { byIdResources } from '../../contract/catalogue.ts'
import { shiftedClock } from '../../lib/clock.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { startOfUtcDay } from '../../lib/dates.ts'
import { MusterError, UsageError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/package.ts'
import { namedRng } from '../../lib/rng.ts'
import { type BuildResult, buildMarts } from '../../marts/build.ts'
import { everyCheck, martGate } from '../../marts/checks/gate.ts'
import { readMarts } from '../../marts/mart.ts'
import { sandboxKeys } from '../../sandbox/keys/default-keys.ts'
import type { mutateWorld } from '../../sandbox/live/mutate-world.ts'
import type { Violation } from '../../sandbox/server/contract-checker.ts'
import type { Sandbox } from '../../sandbox/server/sandbox.ts'
import { migrate } from '../../state/migrate.ts'
import { sumOf } from '../../sync/plan/estimate.ts'
import { planRun } from '../../sync/plan/plan.ts'
import type { RunResult } from '../../sync/run/run.ts'
import type { RunConnection } from '../../sync/run/run-connection.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb } from '../../warehouse/on-demand.ts'
import {
  type CommandModule,
  calendarDay,
  integerBetween,
  numberOf,
  type Options,
  positiveNumber,
  textOption,
} from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printDemoEnding } from '../reports/demo-ending.ts'
import { runShown, summary } from '../run-command.ts'
import { printJson, printLine } from '../terminal/output.ts'

const folder = join('data', 'demo')
const apiKey = sandboxKeys.company

/** The default address of `muster dashboard`. */
const dashboardAddress = 'http://127.0.0.1:8090/'

const sheetsAtScaleOne = 5_000
/** Enough for every mart to have rows, in a third of a minute. */
const defaultScale = 0.15

function connectionTo(url: string, root: string): RunConnection {
  return {
    baseUrl: url,
    apiKey,
    landing: join(root, 'demo.landing'),
    retentionDays: 90,
    lookbackMinutes: 15,
    pageCapBytes: 32 * 1_048_576,
  }
}

/** Settings for the commands that read the warehouse of the demo afterwards. */
function writeSettings(root: string, url: string): void {
  writeFileSync(join(root, 'api-key'), `${apiKey}\n`, { mode: 0o600 })
  const settings = [
    'connections:',
    '  demo:',
    `    baseUrl: ${url}`,
    `    apiKeyFile: ${join(folder, 'api-key')}`,
    `    warehouse: duckdb:${join(folder, 'demo.duckdb')}`,
  ]
  writeFileSync(join(root, 'muster.yaml'), `${settings.join('\n')}\n`)
}

/** Throws UsageError for a folder that the demo did not make: it would be removed with its contents. */
function requireDemo(root: string): void {
  const found = lstatSync(root, { throwIfNoEntry: false })
  if (!found) return
  const isOurs =
    found.isDirectory() && (existsSync(join(root, 'demo.duckdb')) || readdirSync(root).length === 0)
  if (isOurs) return
  throw new UsageError({
    what: 'this folder was not made by the demo',
    where: root,
    next: 'move it away; nothing was changed',
  })
}

/** Postpones the checkpoint that each command makes at its end: the demo makes one as it closes the file. */
const untilClosed = (engine: Engine): Engine => ({ ...engine, makeLasting: async () => undefined })

async function syncOnce(
  context: CommandContext,
  connection: RunConnection,
  engine: Engine,
): Promise<RunResult> {
  const request = { command: 'sync', arguments: '', resources: [], limits: {} }
  const outcome = await runShown(context, { connection, engine }, request)
  if (outcome.failure) throw outcome.failure
  return outcome
}

/** A sync reads records without a list in turn, or right after an event; the demo sends no events. */
function changesLine(changes: ReturnType<typeof mutateWorld>): string {
  const records = new Map(changes.map(({ collection, id }) => [`${collection} ${id}`, collection]))
  const byId = new Set(
    byIdResources.map(({ name }) => name.replace(/-./g, dashed => dashed.slice(1).toUpperCase())),
  )
  const unlisted = [...records.values()].filter(collection => byId.has(collection)).length
  const listed = `The source changes: ${counted(records.size, 'record')}`
  return `${listed}, of which ${formatNumber(unlisted)} are in no list: a sync reads them after an event, or when their turn comes.`
}

/** Builds and checks the marts, and names those that failed. */
async function buildAll(context: CommandContext, engine: Engine): Promise<BuildResult> {
  const marts = readMarts()
  const { clock, rng, signal } = context
  const gate = martGate(everyCheck(marts))
  return buildMarts(
    { engine, clock, rng, signal, version: programVersion, gate, onMart: () => undefined },
    { marts, names: [], all: false },
  )
}

/** The requests that a plan estimates for the first sync. */
async function plannedRequests(context: CommandContext, connection: RunConnection): Promise<number> {
  const { clock, rng, signal } = context
  const client = createClient({ ...connection, clock, rng, signal, version: programVersion })
  try {
    const key = await client.getMe()
    const planned = await planRun({ resources: [] }, { engine: undefined, client, clock, key })
    const { low, high } = sumOf(planned)
    return Math.round((low + high) / 2)
  } finally {
    await client.close()
  }
}

/** The pages of the dashboard in one file, from the warehouse that is open. */
async function writeReportOf({ clock }: CommandContext, engine: Engine, root: string): Promise<string> {
  const { MartReader } = await import('../../dashboard/reader.ts')
  const { writeReport } = await import('../../dashboard/report.ts')
  const { readFilters } = await import('../../dashboard/filters.ts')
  // Not closed here: the caller opened the engine and closes it.
  const reader = new MartReader({ open: async () => engine, stamp: () => 'demo' }, clock)
  const madeAt = new Date(clock.now()).toISOString()
  writeFileSync(
    join(root, 'report.html'),
    await writeReport(reader, { filters: readFilters(new URLSearchParams()), madeAt, members: 2 }),
  )
  return join(folder, 'report.html')
}

function requireNoViolation(violations: readonly Violation[]): void {
  if (violations.length === 0) return
  throw new MusterError({
    what: `${violations.length} requests of the demo broke the contract, the first with ${violations[0]?.message}`,
    next: 'report this as a bug',
  })
}

interface DemoWorld {
  readonly connection: RunConnection
  readonly engine: Engine
  /** Resolves when the warehouse has its tables. */
  readonly tables: Promise<unknown>
  readonly world: Parameters<typeof mutateWorld>[0]
}

async function syncTwice(
  context: CommandContext,
  { connection, engine, tables, world }: DemoWorld,
  options: Options,
): Promise<{ planned: number; first: RunResult; second: RunResult }> {
  const { mutateWorld } = await import('../../sandbox/live/mutate-world.ts')
  const planned = await plannedRequests(context, connection)
  await tables
  printLine(context, `First sync, of everything, planned with about ${counted(planned, 'request')}:`)
  const first = await syncOnce(context, connection, engine)
  printLine(context, summary(first))
  const changes = mutateWorld(world, {
    rng: namedRng(1, 'demo'),
    nowMs: context.clock.now(),
    count: numberOf(options, 'changes'),
  })
  printLine(context, `\n${changesLine(changes)} Second sync, of the changes:`)
  const second = await syncOnce(context, connection, engine)
  printLine(context, summary(second))
  return { planned, first, second }
}

/** The context with its clock set to another day, at the current time of day. */
function contextOn(context: CommandContext, day: string | undefined): CommandContext {
  if (day === undefined) return context
  const { clock } = context
  return { ...context, clock: shiftedClock(clock, Date.parse(day) - startOfUtcDay(clock.now())) }
}

export const command: CommandModule = {
  options: [
    {
      flags: '--scale <number>',
      summary: 'amount of data; 1 is 5,000 timesheets',
      parse: positiveNumber,
      fallback: defaultScale,
    },
    {
      flags: '--changes <number>',
      summary: 'changes at the source between the syncs',
      parse: integerBetween(1),
      fallback: 250,
    },
    {
      flags: '--today <day>',
      summary: 'run as if on this day; the data ends on the day before',
      parse: calendarDay,
    },
  ],
  examples: ['muster demo', 'muster demo --scale 1 --changes 1000'],
  async run(given, _args, options) {
    const context = contextOn(given, textOption(options, 'today'))
    const scale = numberOf(options, 'scale')
    const sheets = counted(Math.round(scale * sheetsAtScaleOne), 'timesheet')
    // Printed first: on a slow machine the sandbox takes seconds to generate.
    printLine(context, `Makes a sandbox of the service with about ${sheets}, in data/demo …`)
    const root = join(context.cwd, folder)
    requireDemo(root)
    rmSync(root, { recursive: true, force: true })
    mkdirSync(root, { recursive: true })
    // So few rows give a second thread no work.
    const file = await openDuckdb(join(root, 'demo.duckdb'), { threads: 1 })
    const engine = untilClosed(file)
    // DuckDB creates the tables while this thread makes the sandbox and waits for its answers.
    const tables = migrate(engine, new Date(context.clock.now()).toISOString())
    // A failure is reported where the promise is awaited.
    tables.catch(() => undefined)
    let sandbox: Sandbox | undefined
    try {
      const { startSandbox } = await import('../../sandbox/server/sandbox.ts')
      const { clock } = context
      sandbox = await startSandbox({ seed: 1, scale, clock })
      writeSettings(root, sandbox.url)
      const connection = connectionTo(sandbox.url, root)
      printLine(context, `It listens on ${sandbox.url}.`)
      const { world } = sandbox
      const synced = await syncTwice(context, { connection, engine, tables, world }, options)
      requireNoViolation(sandbox.violations())
      const built = await buildAll(context, engine)
      const report = await writeReportOf(context, engine, root)
      const demoResult = { ...synced, built, report, dashboard: dashboardAddress }
      if (context.json) printJson(context, demoResult)
      else await printDemoEnding(context, engine, { ...demoResult, folder })
      return 0
    } finally {
      await sandbox?.close()
      await file.close()
    }
  },
}
