/** Forgets a person in a connection: in the warehouse, the landed pages, and the files written from them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Connection } from '../../config/connection.ts'
import { waitingFiles } from '../../events/event-log.ts'
import type { Values } from '../../privacy/erase.ts'
import {
  type ForgetRequest,
  finishForgetting,
  forget,
  type PersonData,
  requireNothing,
  searchAgain,
} from '../../privacy/forget.ts'
import { type Recogniser, recogniserOf } from '../../privacy/recogniser.ts'
import { scrubRecord } from '../../privacy/record/scrub-page.ts'
import { migrate } from '../../state/migrate.ts'
import { readForgotten } from '../../state/privacy.ts'
import { tableInQueries } from '../../state/tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { rewriteFile } from '../../warehouse/on-demand.ts'
import { quotedValues, rewriteStatistics } from '../../warehouse/postgres/statistics.ts'
import { physicalTables } from '../../warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { duckdbFile, landingPlace } from '../connection/storage.ts'
import { openMade } from '../connection/warehouse.ts'
import { alone, asRun } from './exclusive-run.ts'
import {
  type ErasureTargets,
  erasureTargetsOf,
  type ForgetContext,
  type ForgetOptions,
  forgetInCopy,
  type RewriteJob,
  republishCopies,
  rewriteOutputs,
  searchOutputs,
} from './rewrite-outputs.ts'

export type ForgottenPerson = PersonData & ErasureTargets

/** Clears events not loaded yet; the lock on the file keeps `muster serve` away. Returns files that named the person. */
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

const requestOf = ({ connection, options }: RewriteJob): ForgetRequest => ({
  ...options,
  landing: landingPlace(connection),
})

/** Tables whose statistics still have values of the person that their rows no longer have. */
async function staleStatistics(engine: Engine, recogniser: Recogniser | undefined): Promise<string[]> {
  const found = new Set<string>()
  for (const { schema, table, column, text } of await quotedValues(engine)) {
    if (!recogniser?.recognises(text)) continue
    const at = `${schema}.${quoteName(table)}`
    // A namesake's value stays.
    const rows = await engine.rows(
      `select 1 as found from ${at} where cast(${quoteName(column)} as text) = ${quoteText(text)} limit 1`,
    )
    if (rows.length === 0) found.add(at)
  }
  return [...found]
}

/** Any of these may contain earlier versions of rows about the person. */
const piiTables = physicalTables.filter(({ schema }) => schema === 'pii').map(({ name }) => `pii.${name}`)

/**
 * Rewrites tables: until then overwritten rows stay in their free space, and values in the server's statistics, such as the
 * bounds of a histogram.
 */
async function reclaim(
  { connection, context }: RewriteJob,
  engine: Engine,
  touched: readonly string[],
): Promise<void> {
  if (duckdbFile(connection) !== undefined) return
  context.onStep('waiting until no session sees the overwritten rows')
  await engine.awaitOldSnapshots(context.signal)
  const stale = await staleStatistics(engine, recogniserOf(await readForgotten(engine)))
  for (const table of new Set([...touched, ...piiTables, ...stale].map(one => one.replaceAll('"', '')))) {
    const [schema = '', name = ''] = table.split('.')
    context.onStep(`rewriting ${table}`)
    await engine.run(`vacuum (full, analyze) ${schema}.${quoteName(name)}`)
  }
  const left = await rewriteStatistics(engine)
  if (left !== undefined)
    context.onStep(`free space of the server's statistics may hold values: ask its owner to run ${left}`)
}

/** All tables with personal columns, since it is unknown which of them a killed attempt has overwritten. */
async function personalTables(engine: Engine): Promise<string[]> {
  const columns = await engine.describedColumns(['pii', 'history', 'star', 'mart'])
  const found = columns.map(({ schema, table }) => `${schema}.${quoteName(table)}`)
  return [...new Set(found), tableInQueries('quarantine'), tableInQueries('inbox')]
}

async function forgetEverywhere(
  connection: Connection,
  options: ForgetOptions,
  context: ForgetContext,
): Promise<ForgottenPerson> {
  const job = { connection, options, context }
  const engine = await openMade(connection)
  const effects = { engine, ...context }
  try {
    await migrate(engine, new Date(context.clock.now()).toISOString())
    const request = requestOf(job)
    if (options.isDry) return { ...(await forget(effects, request)), ...erasureTargetsOf(connection) }
    const work = async (): Promise<ForgottenPerson> => {
      const { persons } = await readForgotten(engine)
      const isUnfinished = persons.some(({ state }) => state === 'begun')
      const personData = await asRun(engine, context, {
        command: 'forget',
        work: () => forget(effects, request),
      })
      await clearWaitingEvents(engine, connection)
      await rewriteOutputs(job, engine, file => forgetInCopy(job, file, personData.values))
      const left = isUnfinished ? await personalTables(engine) : []
      await reclaim(job, engine, [...new Set([...Object.keys(personData.rows), ...left])])
      return { ...personData, ...erasureTargetsOf(connection) }
    }
    return await alone(engine, context, { command: 'forget', work })
  } finally {
    await engine.close()
  }
}

/** Searches tables, statistics, landed pages, waiting events and outputs; throws if the person is still in one of them. */
async function requireGone(job: RewriteJob, engine: Engine, values: Values): Promise<void> {
  const { connection, context } = job
  context.onStep('searching tables, pages and files again')
  const recogniser = recogniserOf(await readForgotten(engine))
  const places = [
    ...(await searchAgain({ engine, ...context }, { ...requestOf(job), values })),
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
  context: ForgetContext,
): Promise<ForgottenPerson> {
  const forgotten = await forgetEverywhere(connection, options, context)
  if (options.isDry) return forgotten
  const job = { connection, options, context }
  const file = duckdbFile(connection)
  if (file !== undefined) {
    context.onStep(`rewriting ${file}, whose free blocks hold the overwritten rows`)
    await rewriteFile(file)
  }
  await republishCopies(job)
  const engine = await openMade(connection)
  try {
    await requireGone(job, engine, forgotten.values)
    await finishForgetting({ engine, ...context }, { ...options, landing: landingPlace(connection) })
  } finally {
    await engine.close()
  }
  return forgotten
}
