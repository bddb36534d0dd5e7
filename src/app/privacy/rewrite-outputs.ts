/** Rewrites the copies and exports of a warehouse after a person was forgotten, and lists places out of reach. */
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
import { type ListedOutput, outputsOf } from '../../publish/outputs.ts'
import { publish } from '../../publish/publish.ts'
import { existingTables } from '../../state/existing-tables.ts'
import { migrate } from '../../state/migrate.ts'
import { publishedFile } from '../../warehouse/duckdb/database-file.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb, rewriteFile } from '../../warehouse/on-demand.ts'
import { publishCompany } from '../company-copy.ts'
import { duckdbFile, stemOf } from '../connection/storage.ts'
import { forgetInLakes, lakeAddresses } from '../lake.ts'
import type { RuntimeContext } from '../runtime-context.ts'
import { searchLakeFiles, searchOutput } from './audit-pii.ts'

export type ForgetOptions = Pick<ForgetRequest, 'person' | 'allowsReturn' | 'acceptLoss' | 'isDry'>

export interface ForgetContext extends RuntimeContext, Pick<ForgetEffects, 'onScan'> {
  /** Called before each step that may take long. */
  readonly onStep: (step: string) => void
}

/** Outputs that are written again. */
export interface OutputJob {
  readonly connection: Connection
  readonly context: ForgetContext
}

export interface RewriteJob extends OutputJob {
  readonly options: ForgetOptions
}

/** A place that forget cannot reach, and what its owner does about it. */
export interface UnreachablePlace {
  readonly place: string
  readonly next: string
}

export interface ErasureTargets {
  /** Exports and copies to rewrite, and the published copy. */
  readonly outputs: readonly string[]
  /** Files that a query wrote, which only the query could rewrite. */
  readonly unreached: readonly string[]
  readonly unreachable: readonly UnreachablePlace[]
}

const always: readonly UnreachablePlace[] = [
  {
    place: 'backups of the warehouse and of its landing',
    next: 'delete them when they expire; run forget again after restoring one',
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

const ofServer: readonly UnreachablePlace[] = [
  {
    place: 'the write-ahead log of the server (pg_wal) and its archive',
    next: 'select pg_switch_wal(), then checkpoint; delete earlier archived logs and base backups',
  },
  {
    place: 'replicas of the server that subscribe to changes',
    next: 'vacuum (full, analyze) the same tables there',
  },
]

const ofBucket: UnreachablePlace = {
  place: 'earlier versions of objects, if the landing bucket keeps them',
  next: 'expire them with a lifecycle rule, or delete them',
}

const ofLake = (address: string): UnreachablePlace => ({
  place: `readers of the lake ${address} that still have an earlier version open, and copies of its tables`,
  next: 'refresh them; if its bucket keeps earlier versions of objects, expire them with a lifecycle rule',
})

/** Places out of reach for this kind of warehouse and landing. */
const beyondReach = (connection: Connection | StoredConnection): readonly UnreachablePlace[] => [
  ...(duckdbFile(connection) === undefined ? ofServer : []),
  ...(connection.bucket ? [ofBucket] : []),
  ...lakeAddresses(connection).map(ofLake),
  ...always,
]

const publishedCopy = (connection: StoredConnection): string | undefined => {
  const file = duckdbFile(connection)
  const copy = file === undefined ? undefined : publishedFile(file)
  return copy !== undefined && existsSync(copy) ? copy : undefined
}

export function erasureTargetsOf(connection: StoredConnection): ErasureTargets {
  const listed = outputsOf(stemOf(connection))
  const of = (isAnswer: boolean): string[] =>
    listed.filter(({ made }) => (made === 'answer') === isAnswer).map(({ place }) => place)
  const copy = publishedCopy(connection)
  return {
    outputs: [...of(false), ...(copy === undefined ? [] : [copy]), ...lakeAddresses(connection)],
    unreached: of(true),
    unreachable: beyondReach(connection),
  }
}

export async function openCopy(file: string): Promise<Engine> {
  try {
    return await openDuckdb(file)
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    throw new ConfigError({
      what: `this copy cannot be opened, so it still has the person's data: ${cause.report.what}`,
      where: file,
      next: 'remove it, or make it again; then run the same command again',
      cause,
    })
  }
}

export async function forgetInCopy(
  { options, context }: RewriteJob,
  file: string,
  values: Values,
): Promise<void> {
  const engine = await openCopy(file)
  try {
    if (!(await existingTables(engine)).has('migration')) {
      context.onStep(`${file} is no longer a copy, and was left unchanged`)
      return
    }
    await migrate(engine, new Date(context.clock.now()).toISOString())
    const effects = { engine, ...context }
    const request = { ...options, landing: `${file}.landing`, mayBeUnknown: true, values }
    const dryRun = await forget(effects, request)
    requireNothing(await searchAgain(effects, { ...request, values: dryRun.values }), file)
    await finishForgetting(effects, request)
  } finally {
    await engine.close()
  }
  await rewriteFile(file)
}

/** Call while the warehouse is locked, once nothing of it may be in an output any more. `inCopy` rewrites a copy. */
export async function rewriteOutputs(
  { connection, context }: OutputJob,
  engine: Engine,
  inCopy: (file: string) => Promise<void>,
): Promise<void> {
  const exportInto = ({ place, includesPii }: ListedOutput) =>
    exportParquet(
      { engine, ...context, version: programVersion, onTable: () => undefined },
      { folder: place, includePii: includesPii, monthRows: monthRowsUnlessGiven },
    )
  for (const output of outputsOf(stemOf(connection))) {
    if (output.made !== 'copy' && output.made !== 'export') continue
    context.onStep(`rewriting ${output.place}`)
    await (output.made === 'copy' ? inCopy(output.place) : exportInto(output))
  }
  for (const lake of lakeAddresses(connection))
    context.onStep(`rewriting ${lake}, and removing earlier versions`)
  await forgetInLakes(engine, connection, context)
  const copy = publishedCopy(connection)
  if (copy === undefined) return
  context.onStep(`rewriting ${copy}`)
  await publish({ engine, ...context, version: programVersion })
}

/** Publishes the copies for single companies again; this opens the warehouse itself. */
export async function republishCopies({ connection, context }: OutputJob): Promise<void> {
  for (const { made, company, place } of outputsOf(stemOf(connection))) {
    if (made !== 'company' || company === undefined) continue
    context.onStep(`rewriting ${place}`)
    const request = { company, file: place, requiresComplete: false, isForced: false }
    await publishCompany(connection, request, { ...context, onStep: () => undefined })
  }
}

/** Searches files for readers, and exports with personal data. Copies were searched while they were open. */
export async function searchOutputs(
  { connection, context }: RewriteJob,
  engine: Engine,
  { values, recogniser }: { readonly values: Values; readonly recogniser: Recogniser },
): Promise<string[]> {
  const sought = { has: (normal: string) => values.has(normal) || recogniser.recognises(normal) }
  const copy = publishedCopy(connection)
  const listed = outputsOf(stemOf(connection)).filter(({ made }) => made === 'export' || made === 'company')
  const copies = [...listed, ...(copy === undefined ? [] : [{ place: copy, made: 'company' as const }])]
  const found: string[] = []
  for (const { place, made } of copies) {
    const { hits } = await searchOutput(engine, { place, made }, sought)
    // In an export with personal data, a hit in pii may be a namesake.
    const own = hits.filter(({ column }) => !column.startsWith('pii.') || column.startsWith('pii.text.'))
    found.push(...own.map(({ column }) => `${column} of ${place}`))
  }
  const lake = await searchLakeFiles(engine, { connection, context }, sought)
  found.push(...(lake?.hits ?? []).map(({ column }) => `${column} of ${lake?.place}`))
  return found
}
