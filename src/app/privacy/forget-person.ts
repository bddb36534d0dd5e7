/** Forgets a person in a connection: in the warehouse and its landing, and in what was written from it. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Connection } from '../../config/connection.ts'
import { waitingFiles } from '../../events/event-log.ts'
import { programVersion } from '../../lib/package.ts'
import type { Values } from '../../privacy/erase.ts'
import {
  type ForgetRequest,
  finishForgetting,
  forget,
  type Held,
  requireNothing,
  searchAgain,
} from '../../privacy/forget.ts'
import { type Recogniser, recogniserOf } from '../../privacy/recogniser.ts'
import { scrubRecord } from '../../privacy/record/scrub-page.ts'
import { migrate } from '../../state/migrate.ts'
import { readForgotten } from '../../state/privacy/forgotten.ts'
import { newRunId, startRun, updateRun } from '../../state/runs/runs.ts'
import { takeWhole } from '../../state/runs/whole-lease.ts'
import { tableInQueries } from '../../state/tables.ts'
import { usualLeaseMs } from '../../sync/run/context.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { rewriteFile } from '../../warehouse/on-demand.ts'
import { physicalTables } from '../../warehouse/schema/physical.ts'
import { schemaNames } from '../../warehouse/schema/schemas.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { landingPlace } from '../connection/landing.ts'
import { duckdbFile, openMade } from '../connection/warehouse.ts'
import type { Surroundings } from '../surroundings.ts'
import {
  type ForgetAround,
  type ForgetOptions,
  type Job,
  type Places,
  placesOf,
  publishAnew,
  searchOutputs,
  writeAnew,
} from './written-anew.ts'

export type ForgottenPerson = Held & Places

/** Events that no process has loaded yet; the lock on the file keeps `muster serve` away. Returns files that had the person. */
async function clearWaitingEvents(engine: Engine, connection: Connection): Promise<string[]> {
  const file = duckdbFile(connection)
  const folder = `${(file ?? '').replace(/\.duckdb$/, '')}.inbox`
  const recogniser = recogniserOf(await readForgotten(engine))
  if (file === undefined || !existsSync(folder) || !recogniser) return []
  return waitingFiles(folder).filter(one => {
    const lines = readFileSync(one, 'utf8').split('\n')
    const rest = lines.map(line => scrubRecord(Buffer.from(line), recogniser, undefined).toString())
    const isChanged = rest.join('\n') !== lines.join('\n')
    if (isChanged) writeFileSync(one, rest.join('\n'), { mode: 0o600 })
    return isChanged
  })
}

const requestOf = ({ connection, options }: Job): ForgetRequest => ({
  ...options,
  landing: landingPlace(connection),
})

/** The run does not say who it was. */
async function asRun(engine: Engine, { clock, rng }: Surroundings, work: () => Promise<Held>): Promise<Held> {
  const runId = newRunId(clock, rng)
  const now = (): string => new Date(clock.now()).toISOString()
  await startRun(engine, {
    runId,
    command: 'forget',
    arguments: '',
    startedAt: now(),
    version: programVersion,
  })
  try {
    const held = await work()
    await updateRun(engine, runId, { state: 'done', finished_at: now() })
    return held
  } catch (error) {
    await updateRun(engine, runId, { state: 'failed', finished_at: now(), message: 'run it again to finish' })
    throw error
  }
}

interface Quoted {
  readonly schema: string
  readonly table: string
  readonly column: string
  readonly values: string
}

/** Values of the person that only statistics have yet: the table had them when the server last looked. */
async function staleStatistics(engine: Engine, recogniser: Recogniser | undefined): Promise<string[]> {
  const schemas = schemaNames.map(name => quoteText(engine.schema(name))).join(', ')
  const found = new Set<string>()
  const quoted = await engine.rows<Quoted>(
    `select schemaname as schema, tablename as table, attname as column,
      coalesce(cast(most_common_vals as text), '') || coalesce(cast(histogram_bounds as text), '') as values
     from pg_catalog.pg_stats where schemaname in (${schemas})`,
  )
  for (const { schema, table, column, values } of quoted)
    for (const [, inQuotes, plain] of values.matchAll(/"((?:[^"\\]|\\.)*)"|([^{},"]+)/g)) {
      const text = inQuotes?.replace(/\\(.)/g, '$1') ?? plain ?? ''
      if (!recogniser?.tells(text)) continue
      const at = `${schema}.${quoteName(table)}`
      // The same name of somebody else stays.
      const rows = await engine.rows(
        `select 1 as found from ${at} where cast(${quoteName(column)} as text) = ${quoteText(text)} limit 1`,
      )
      if (rows.length === 0) found.add(at)
    }
  return [...found]
}

/** Any of them may have held earlier versions of rows about the person. */
const piiTables = physicalTables.filter(({ schema }) => schema === 'pii').map(({ name }) => `pii.${name}`)

/**
 * Rows that were overwritten stay in the free space of a table until it is written anew, and values of them in the statistics
 * of the server, such as the bounds of a histogram.
 */
async function reclaim(
  { connection, around }: Job,
  engine: Engine,
  touched: readonly string[],
): Promise<void> {
  if (duckdbFile(connection) !== undefined) return
  around.onStep('waiting until no session sees what was overwritten')
  await engine.awaitOldSnapshots(around.signal)
  const stale = await staleStatistics(engine, recogniserOf(await readForgotten(engine)))
  for (const table of new Set([...touched, ...piiTables, ...stale].map(one => one.replaceAll('"', '')))) {
    const [schema = '', name = ''] = table.split('.')
    around.onStep(`writing ${table} anew`)
    await engine.run(`vacuum (full, analyze) ${schema}.${quoteName(name)}`)
  }
  const [right] = await engine.rows<{ may: boolean }>(
    `select pg_catalog.pg_has_role(datdba, 'usage') as may from pg_catalog.pg_database
     where datname = pg_catalog.current_database()`,
  )
  const statistics = 'vacuum full pg_catalog.pg_statistic'
  if (right?.may) await engine.run(statistics)
  else
    around.onStep(`free space of the server's statistics may quote values: let its owner run ${statistics}`)
}

/** Which of them an attempt that was killed has overwritten, nothing tells any more. */
async function personalTables(engine: Engine): Promise<string[]> {
  const columns = await engine.describedColumns(['pii', 'history', 'star', 'mart'])
  const found = columns.map(({ schema, table }) => `${schema}.${quoteName(table)}`)
  return [...new Set(found), tableInQueries('quarantine'), tableInQueries('inbox')]
}

/**
 * On a server nobody else writes meanwhile: a replay, or a run that began before, would bring back rows of the pages that it
 * has read. A file has its own lock.
 */
async function alone<Result>(
  engine: Engine,
  { clock, rng }: Surroundings,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!engine.isShared) return work()
  const holder = `forget-${newRunId(clock, rng)}`
  const leases = await takeWhole(engine, { holder, ms: usualLeaseMs, work: 'written' })
  try {
    return await work()
  } finally {
    await leases.release()
  }
}

async function forgetEverywhere(
  connection: Connection,
  options: ForgetOptions,
  around: ForgetAround,
): Promise<ForgottenPerson> {
  const job = { connection, options, around }
  const engine = await openMade(connection)
  const effects = { engine, ...around }
  try {
    await migrate(engine, new Date(around.clock.now()).toISOString())
    const request = requestOf(job)
    if (options.isDry) return { ...(await forget(effects, request)), ...placesOf(connection) }
    return await alone(engine, around, async () => {
      const { persons } = await readForgotten(engine)
      const isUnfinished = persons.some(({ state }) => state === 'begun')
      const held = await asRun(engine, around, () => forget(effects, request))
      await clearWaitingEvents(engine, connection)
      await writeAnew(job, engine, held.values)
      const left = isUnfinished ? await personalTables(engine) : []
      await reclaim(job, engine, [...new Set([...Object.keys(held.rows), ...left])])
      return { ...held, ...placesOf(connection) }
    })
  } finally {
    await engine.close()
  }
}

/** Tables, statistics, landed pages, waiting events and what was written from them, before anything is said to be done. */
async function requireGone(job: Job, engine: Engine, values: Values): Promise<void> {
  const { connection, around } = job
  around.onStep('searching tables, pages and files again')
  const recogniser = recogniserOf(await readForgotten(engine))
  const places = [
    ...(await searchAgain({ engine, ...around }, { ...requestOf(job), values })),
    ...(await clearWaitingEvents(engine, connection)),
    ...(duckdbFile(connection) === undefined
      ? (await staleStatistics(engine, recogniser)).map(table => `the statistics of ${table}`)
      : []),
    ...(recogniser ? await searchOutputs(job, engine, { values, recogniser }) : []),
  ]
  requireNothing(places, engine.location)
}

export async function forgetPerson(
  connection: Connection,
  options: ForgetOptions,
  around: ForgetAround,
): Promise<ForgottenPerson> {
  const forgotten = await forgetEverywhere(connection, options, around)
  if (options.isDry) return forgotten
  const job = { connection, options, around }
  const file = duckdbFile(connection)
  if (file !== undefined) {
    around.onStep(`writing ${file} anew, as its free blocks hold what was overwritten`)
    await rewriteFile(file)
  }
  await publishAnew(job)
  const engine = await openMade(connection)
  try {
    await requireGone(job, engine, forgotten.values)
    await finishForgetting({ engine, ...around }, { ...options, landing: landingPlace(connection) })
  } finally {
    await engine.close()
  }
  return forgotten
}
