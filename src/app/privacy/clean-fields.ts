/** Makes everything stored of a connection follow the field policy of its settings. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Connection } from '../../config/connection.ts'
import { waitingFiles } from '../../events/event-log.ts'
import { rewriteLanding } from '../../landing/rewrite.ts'
import { MusterError } from '../../lib/errors.ts'
import { removeMart } from '../../marts/rebuild.ts'
import { cleanTables } from '../../privacy/fields/clean-warehouse.ts'
import { gatedBody, gateOf } from '../../privacy/fields/gate.ts'
import { FieldPolicy } from '../../privacy/fields/policy.ts'
import { recordPolicy } from '../../privacy/fields/stored-policy.ts'
import { recordedMarts } from '../../state/marts/marts.ts'
import { migrate } from '../../state/migrate.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { rewriteFile } from '../../warehouse/on-demand.ts'
import { rewriteStatistics } from '../../warehouse/postgres/statistics.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { buildAllMarts } from '../all-marts.ts'
import { duckdbFile, inboxFolder, shownLanding, withLanding } from '../connection/storage.ts'
import { fieldSettings, openMade } from '../connection/warehouse.ts'
import { alone, asRun } from './exclusive-run.ts'
import {
  type ErasureTargets,
  erasureTargetsOf,
  type ForgetContext,
  openCopy,
  republishCopies,
  rewriteOutputs,
} from './rewrite-outputs.ts'

export interface CleanOptions {
  /** Counts the rows by table and changes nothing. */
  readonly isDry: boolean
  /** Deletes scans whose files cannot be read, and so cannot be cleaned. */
  readonly acceptLoss: boolean
}

export interface CleanedFields extends ErasureTargets {
  readonly rows: Readonly<Record<string, number>>
  readonly pages: number
  readonly damaged: readonly string[]
  /** Marts that could not be built from cleaned tables, and were removed. */
  readonly removedMarts: readonly string[]
}

interface CleanJob {
  readonly connection: Connection
  readonly options: CleanOptions
  readonly context: ForgetContext
  readonly policy: FieldPolicy
}

const nowOf = ({ context }: CleanJob): string => new Date(context.clock.now()).toISOString()

function cleanPages({ connection, options, context, policy }: CleanJob) {
  const { isDry, acceptLoss } = options
  const { signal, onScan } = context
  return withLanding(connection, signal, async landing => {
    const rewritten = await rewriteLanding(landing, { scrub: gateOf(policy), isDry, signal, onScan })
    if (rewritten.damaged.length > 0 && !isDry && !acceptLoss)
      throw new MusterError({
        what: `landed pages cannot be read, so they may still have blocked fields: ${rewritten.damaged.join(', ')}`,
        where: shownLanding(connection),
        next: 'run the same command with --accept-loss, which removes them',
      })
    if (!isDry) for (const scan of rewritten.damaged) await landing.discard(scan)
    return rewritten
  })
}

/** Events that no command has loaded yet; the lock on the file keeps `muster serve` away. */
function cleanWaitingEvents({ connection, policy }: CleanJob): void {
  const file = duckdbFile(connection)
  const folder = inboxFolder(file ?? '')
  if (file === undefined || !existsSync(folder)) return
  for (const one of waitingFiles(folder)) {
    const lines = readFileSync(one, 'utf8').split('\n')
    const rest = lines.map(line => (line === '' ? line : withGatedPayload(line, policy)))
    if (rest.join('\n') !== lines.join('\n')) writeFileSync(one, rest.join('\n'), { mode: 0o600 })
  }
}

function withGatedPayload(line: string, policy: FieldPolicy): string {
  try {
    const event = JSON.parse(line) as { payload?: string | null }
    return event.payload ? JSON.stringify({ ...event, payload: gatedBody(policy, event.payload) }) : line
  } catch (error) {
    // A dying process left an unfinished line; its sender never got a 202.
    if (error instanceof SyntaxError) return ''
    throw error
  }
}

/** Marts keep rows of before until they are built again; one that cannot be built is removed. */
async function cleanMarts(engine: Engine, { connection, context }: CleanJob): Promise<string[]> {
  const recorded = await recordedMarts(engine)
  if (recorded.size === 0) return []
  context.onStep('building marts')
  const built = await buildAllMarts({ engine, ...context, onMart: () => undefined }, connection)
  const left = built.filter(({ state }) => !['built', 'removed'].includes(state)).map(({ name }) => name)
  for (const name of left) await removeMart(engine, name)
  return left
}

/** Until a table is rewritten, its free space keeps what was in it. */
async function reclaim(
  engine: Engine,
  { connection, context }: CleanJob,
  tables: Iterable<string>,
): Promise<void> {
  if (duckdbFile(connection) !== undefined) return
  context.onStep('waiting until no session sees the cleaned rows')
  await engine.awaitOldSnapshots(context.signal)
  const marts = [...(await recordedMarts(engine)).keys()].map(name => `mart.${quoteName(name)}`)
  for (const table of new Set([...tables, ...marts])) {
    context.onStep(`rewriting ${table}`)
    await engine.run(`vacuum (full, analyze) ${table}`)
  }
  const left = await rewriteStatistics(engine)
  if (left !== undefined)
    context.onStep(`free space of the server's statistics may hold values: ask its owner to run ${left}`)
}

async function cleanWarehouse(
  engine: Engine,
  job: CleanJob,
): Promise<Pick<CleanedFields, 'rows' | 'removedMarts'>> {
  const { counts, tables } = await cleanTables(engine, job.policy, job.options)
  const rows = Object.fromEntries([...counts].sort())
  if (job.options.isDry) return { rows, removedMarts: [] }
  const removedMarts = await cleanMarts(engine, job)
  await reclaim(engine, job, tables)
  return { rows, removedMarts }
}

async function cleanCopy(job: CleanJob, file: string): Promise<void> {
  const engine = await openCopy(file)
  try {
    await migrate(engine, nowOf(job))
    await cleanWarehouse(engine, job)
    await recordPolicy(engine, job.policy, nowOf(job))
  } finally {
    await engine.close()
  }
  await rewriteFile(file)
}

async function cleanStored(engine: Engine, job: CleanJob): Promise<CleanedFields> {
  const { connection, context, options } = job
  await migrate(engine, nowOf(job))
  const pages = await cleanPages(job)
  if (options.isDry)
    return { ...pages, ...(await cleanWarehouse(engine, job)), ...erasureTargetsOf(connection) }
  cleanWaitingEvents(job)
  const cleaned = await cleanWarehouse(engine, job)
  await rewriteOutputs({ connection, context }, engine, file => cleanCopy(job, file))
  return { ...pages, ...cleaned, ...erasureTargetsOf(connection) }
}

async function withEngine<Result>(
  { connection }: CleanJob,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  const engine = await openMade(connection)
  return work(engine).finally(() => engine.close())
}

/** Each step can be repeated: the policy counts as followed only after the last, so the user runs a killed command again. */
export async function cleanFields(
  connection: Connection,
  options: CleanOptions,
  context: ForgetContext,
): Promise<CleanedFields> {
  const job = { connection, options, context, policy: new FieldPolicy(fieldSettings(connection)) }
  if (options.isDry) return withEngine(job, engine => cleanStored(engine, job))
  const command = 'clean'
  const cleaned = await withEngine(job, engine => {
    const work = () => asRun(engine, context, { command, work: () => cleanStored(engine, job) })
    return alone(engine, context, { command, work })
  })
  const file = duckdbFile(connection)
  if (file !== undefined) {
    context.onStep(`rewriting ${file}, whose free blocks have the cleaned rows`)
    await rewriteFile(file)
  }
  await republishCopies({ connection, context })
  await withEngine(job, engine => recordPolicy(engine, job.policy, nowOf(job)))
  return cleaned
}
