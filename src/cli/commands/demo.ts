/** `muster demo`: the whole program in a minute: a sandbox, a first sync, changes at the source, a second sync, the marts. */
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '../../api/client/client.ts'
import { byIdResources } from '../../contract/catalogue.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { utcDay } from '../../lib/dates.ts'
import { MusterError, UsageError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/package.ts'
import { namedRng } from '../../lib/rng.ts'
import { type BuildResult, buildMarts } from '../../marts/build.ts'
import { everyCheck, martGate } from '../../marts/checks/gate.ts'
import { readMarts } from '../../marts/mart.ts'
import { sandboxKeys } from '../../sandbox/keys/default-keys.ts'
import type { mutateWorld } from '../../sandbox/live/mutate-world.ts'
import type { Violation } from '../../sandbox/refusals/contract-checker.ts'
import type { Sandbox } from '../../sandbox/server/sandbox.ts'
import { migrate } from '../../state/migrate.ts'
import { sumOf } from '../../sync/plan/estimate.ts'
import { planRun } from '../../sync/plan/plan.ts'
import type { RunOutcome } from '../../sync/run/run.ts'
import type { RunConnection } from '../../sync/run/run-connection.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb } from '../../warehouse/on-demand.ts'
import { type CommandModule, numberOf, type Options, positiveNumber, wholeNumber } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { tellEnding } from '../reports/demo-ending.ts'
import { runShown, summary } from '../run-command.ts'
import { printJson, printLine } from '../terminal/output.ts'

const folder = join('data', 'demo')
const apiKey = sandboxKeys.company

/** Where `muster dashboard` listens unless told otherwise. */
const dashboardAddress = 'http://127.0.0.1:8090/'

const sheetsAtScaleOne = 5_000
/** Enough for every mart to have rows, in a third of a minute. */
const usualScale = 0.15

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

/** Throws UsageError for a folder of somebody else: it would be removed with all that is in it. */
function requireDemo(root: string): void {
  const found = lstatSync(root, { throwIfNoEntry: false })
  if (!found) return
  const isOurs =
    found.isDirectory() && (existsSync(join(root, 'demo.duckdb')) || readdirSync(root).length === 0)
  if (isOurs) return
  throw new UsageError({
    what: 'the demo did not make what is in its place',
    where: root,
    next: 'move it away; nothing was changed',
  })
}

/** What a command would write into the file at its end is written once, as the demo closes it. */
const untilClosed = (engine: Engine): Engine => ({ ...engine, makeLasting: async () => undefined })

async function syncOnce(
  context: CommandContext,
  connection: RunConnection,
  engine: Engine,
): Promise<RunOutcome> {
  const request = { command: 'sync', arguments: '', resources: [], limits: {} }
  const outcome = await runShown(context, { connection, engine }, request)
  if (outcome.failure) throw outcome.failure
  return outcome
}

/** A sync reads records without a list in turn, or at once after an event; the demo sends no events. */
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

/** Requests of the first sync as a plan sees it, before any is spent on the sync itself. */
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
  // Left open: whoever opened the engine closes it.
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

interface Demonstrated {
  readonly connection: RunConnection
  readonly engine: Engine
  /** Resolves when the warehouse has its tables. */
  readonly tables: Promise<unknown>
  readonly world: Parameters<typeof mutateWorld>[0]
}

async function syncTwice(
  context: CommandContext,
  { connection, engine, tables, world }: Demonstrated,
  options: Options,
): Promise<{ planned: number; first: RunOutcome; second: RunOutcome }> {
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

export const command: CommandModule = {
  options: [
    {
      flags: '--scale <number>',
      summary: '1 is 5,000 timesheets',
      parse: positiveNumber,
      fallback: usualScale,
    },
    {
      flags: '--changes <number>',
      summary: 'changes at the source between the syncs',
      parse: wholeNumber(1),
      fallback: 250,
    },
  ],
  examples: ['muster demo', 'muster demo --scale 1 --changes 1000'],
  async run(context, _args, options) {
    const scale = numberOf(options, 'scale')
    const sheets = counted(Math.round(scale * sheetsAtScaleOne), 'timesheet')
    // Said first: on a slow machine the service takes seconds to make.
    printLine(context, `Makes a sandbox of the service with about ${sheets}, in data/demo …`)
    const root = join(context.cwd, folder)
    requireDemo(root)
    rmSync(root, { recursive: true, force: true })
    mkdirSync(root, { recursive: true })
    // Of so few rows a second thread has no share: it would only wait beside the first.
    const file = await openDuckdb(join(root, 'demo.duckdb'), { threads: 1 })
    const engine = untilClosed(file)
    // Work for DuckDB, while this thread makes the service and then waits for its answers.
    const tables = migrate(engine, new Date(context.clock.now()).toISOString())
    // A failure is told where they are awaited.
    tables.catch(() => undefined)
    let sandbox: Sandbox | undefined
    try {
      const { startSandbox } = await import('../../sandbox/server/sandbox.ts')
      const { clock } = context
      sandbox = await startSandbox({ seed: 1, scale, today: utcDay(clock.now()), clock })
      writeSettings(root, sandbox.url)
      const connection = connectionTo(sandbox.url, root)
      printLine(context, `It listens on ${sandbox.url}.`)
      const { world } = sandbox
      const synced = await syncTwice(context, { connection, engine, tables, world }, options)
      requireNoViolation(sandbox.violations())
      const built = await buildAll(context, engine)
      const report = await writeReportOf(context, engine, root)
      const told = { ...synced, built, report, dashboard: dashboardAddress }
      if (context.json) printJson(context, told)
      else await tellEnding(context, engine, { ...told, folder })
      return 0
    } finally {
      await sandbox?.close()
      await file.close()
    }
  },
}
