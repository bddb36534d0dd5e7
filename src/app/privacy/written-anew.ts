/** What was written from a warehouse, after somebody was forgotten in it: each place is written anew, or told to people. */

import { existsSync } from 'node:fs'
import type { Connection, StoredConnection } from '../../config/connection.ts'
import { ConfigError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/package.ts'
import type { Values } from '../../privacy/erase.ts'
import {
  type ForgetEffects,
  type ForgetRequest,
  finishForgetting,
  forget,
  requireNothing,
  searchAgain,
} from '../../privacy/forget.ts'
import type { Recogniser } from '../../privacy/recogniser.ts'
import { exportParquet, monthRowsUnlessGiven } from '../../publish/export/export.ts'
import { type Output, outputsOf } from '../../publish/outputs.ts'
import { publish } from '../../publish/publish.ts'
import { existingTables } from '../../state/existing-tables.ts'
import { migrate } from '../../state/migrate.ts'
import { publishedFile } from '../../warehouse/duckdb/database-file.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb, rewriteFile } from '../../warehouse/on-demand.ts'
import { publishCompany } from '../company-copy/company-copy.ts'
import { stemOf } from '../connection/outputs-list.ts'
import { duckdbFile } from '../connection/warehouse.ts'
import type { Surroundings } from '../surroundings.ts'
import { searchOutput } from './audit-pii.ts'

export type ForgetOptions = Pick<ForgetRequest, 'person' | 'allowsReturn' | 'acceptLoss' | 'isDry'>

export interface ForgetAround extends Surroundings, Pick<ForgetEffects, 'onScan'> {
  /** Called before each step that may take long. */
  readonly onStep: (step: string) => void
}

export interface Job {
  readonly connection: Connection
  readonly options: ForgetOptions
  readonly around: ForgetAround
}

/** A place that forget cannot reach, and what its owner does about it. */
export interface Beyond {
  readonly place: string
  readonly next: string
}

export interface Places {
  /** Exports and copies that are written anew, and the published copy. */
  readonly outputs: readonly string[]
  /** Answers of queries, which only the query could write anew. */
  readonly unreached: readonly string[]
  readonly beyond: readonly Beyond[]
}

const always: readonly Beyond[] = [
  {
    place: 'backups of the warehouse and of its landing',
    next: 'delete them when their time is over; run forget again after restoring one',
  },
  {
    place: 'copies and exports that were moved, renamed, or written by the shell or another tool',
    next: 'delete them, or run forget with MUSTER_WAREHOUSE=duckdb:FILE',
  },
  {
    place: 'extracts and caches of BI tools',
    next: 'refresh them from the published copy',
  },
  {
    place: 'what muster printed: logs, terminals, mails, and the history of muster sql',
    next: 'delete what names the person; the history is ~/.local/state/muster/sql-history of each user',
  },
]

const ofServer: readonly Beyond[] = [
  {
    place: 'the write-ahead log of the server (pg_wal) and its archive',
    next: 'select pg_switch_wal(), then checkpoint; delete archived logs and base backups of before',
  },
  {
    place: 'replicas of the server that subscribe to changes',
    next: 'vacuum (full, analyze) the same tables there',
  },
]

const ofBucket: Beyond = {
  place: 'earlier versions of objects, where the bucket of the landing keeps them',
  next: 'end them with a lifecycle rule, or delete them',
}

/** What is never reached, for this kind of warehouse and landing. */
const beyondReach = (connection: Connection | StoredConnection): readonly Beyond[] => [
  ...(duckdbFile(connection) === undefined ? ofServer : []),
  ...(connection.bucket ? [ofBucket] : []),
  ...always,
]

const publishedCopy = (connection: StoredConnection): string | undefined => {
  const file = duckdbFile(connection)
  const copy = file === undefined ? undefined : publishedFile(file)
  return copy !== undefined && existsSync(copy) ? copy : undefined
}

export function placesOf(connection: StoredConnection): Places {
  const listed = outputsOf(stemOf(connection))
  const of = (isAnswer: boolean): string[] =>
    listed.filter(({ made }) => (made === 'answer') === isAnswer).map(({ place }) => place)
  const copy = publishedCopy(connection)
  return {
    outputs: [...of(false), ...(copy === undefined ? [] : [copy])],
    unreached: of(true),
    beyond: beyondReach(connection),
  }
}

async function openCopy(file: string): Promise<Engine> {
  try {
    return await openDuckdb(file)
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    throw new ConfigError({
      what: `this copy cannot be opened, so it still holds the person: ${cause.report.what}`,
      where: file,
      next: 'remove it, or make it anew; then run the same command again',
      cause,
    })
  }
}

async function forgetInCopy({ options, around }: Job, file: string, values: Values): Promise<void> {
  const engine = await openCopy(file)
  try {
    if (!(await existingTables(engine)).has('migration')) {
      around.onStep(`${file} is no copy any more, and is left as it is`)
      return
    }
    await migrate(engine, new Date(around.clock.now()).toISOString())
    const effects = { engine, ...around }
    const request = { ...options, landing: `${file}.landing`, mayBeUnknown: true, values }
    const held = await forget(effects, request)
    requireNothing(await searchAgain(effects, { ...request, values: held.values }), file)
    await finishForgetting(effects, request)
  } finally {
    await engine.close()
  }
  await rewriteFile(file)
}

/** While the warehouse is held: what is read from it is without the person. */
export async function writeAnew(job: Job, engine: Engine, values: Values): Promise<void> {
  const { connection, around } = job
  const exportInto = ({ place, includesPii }: Output) =>
    exportParquet(
      { engine, ...around, version: programVersion, onTable: () => undefined },
      { folder: place, includePii: includesPii, monthRows: monthRowsUnlessGiven },
    )
  for (const output of outputsOf(stemOf(connection))) {
    if (output.made !== 'copy' && output.made !== 'export') continue
    around.onStep(`writing ${output.place} anew`)
    await (output.made === 'copy' ? forgetInCopy(job, output.place, values) : exportInto(output))
  }
  const copy = publishedCopy(connection)
  if (copy === undefined) return
  around.onStep(`writing ${copy} anew`)
  await publish({ engine, ...around, version: programVersion })
}

/** Copies for one company, which open the warehouse themselves. */
export async function publishAnew({ connection, around }: Job): Promise<void> {
  for (const { made, company, place } of outputsOf(stemOf(connection))) {
    if (made !== 'company' || company === undefined) continue
    around.onStep(`writing ${place} anew`)
    const request = { company, file: place, requiresWhole: false, isForced: false }
    await publishCompany(connection, request, { ...around, onStep: () => undefined })
  }
}

/** Files for readers, and exports with personal data; copies are searched while they are open. */
export async function searchOutputs(
  { connection }: Job,
  engine: Engine,
  { values, recogniser }: { readonly values: Values; readonly recogniser: Recogniser },
): Promise<string[]> {
  const sought = { has: (normal: string) => values.has(normal) || recogniser.tells(normal) }
  const copy = publishedCopy(connection)
  const listed = outputsOf(stemOf(connection)).filter(({ made }) => made === 'export' || made === 'company')
  const places = [...listed, ...(copy === undefined ? [] : [{ place: copy, made: 'company' as const }])]
  const found: string[] = []
  for (const { place, made } of places) {
    const { hits } = await searchOutput(engine, { place, made }, sought)
    // A namesake may be among the people of an export with personal data.
    const own = hits.filter(({ column }) => !column.startsWith('pii.') || column.startsWith('pii.text.'))
    found.push(...own.map(({ column }) => `${column} of ${place}`))
  }
  return found
}
