/** Opens the warehouse of a connection for writing, or the file that can be read now. */

import { existsSync } from 'node:fs'
import type { Connection, StoredConnection } from '../../config/connection.ts'
import { resourcesUnder } from '../../config/fields.ts'
import { systemClock } from '../../lib/clock.ts'
import { MusterError } from '../../lib/errors.ts'
import type { RecordLimits } from '../../load/page/record-limits.ts'
import type { FieldSettings } from '../../privacy/fields/policy.ts'
import { existingTables } from '../../state/existing-tables.ts'
import { migrate } from '../../state/migrate.ts'
import { isBehind, requireReadable } from '../../state/migrations.ts'
import type { Tolerance } from '../../state/runs/runs.ts'
import type { RunConnection } from '../../sync/run/run-connection.ts'
import { tablesIn } from '../../warehouse/catalogue.ts'
import { openQuery } from '../../warehouse/duckdb/ad-hoc/child.ts'
import { publishedFile } from '../../warehouse/duckdb/database-file.ts'
import { FileOutOfReach } from '../../warehouse/duckdb/failure.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb, openPostgres, openPostgresQuery } from '../../warehouse/on-demand.ts'
import { dropLeftoverSchemas } from '../../warehouse/postgres/temporary-schemas.ts'
import type { QuerySession } from '../../warehouse/query.ts'
import type { NoticeOutput } from '../runtime-context.ts'
import { leavingOverview } from './overview.ts'
import { duckdbFile, landingPlace, postgresTarget } from './storage.ts'

/**
 * Opens the warehouse for writing and migrates a DuckDB file of an earlier version. Throws MusterError for a file of a later
 * version. `threads` as in OpenOptions.
 */
export async function openToWrite(connection: StoredConnection, threads?: number): Promise<Engine> {
  const engine = await openUnchanged(connection, threads)
  // On a server, each writing command migrates first, in its own transaction.
  if (engine.isShared) return engine
  try {
    if (await isBehind(engine)) await migrate(engine, new Date(systemClock.now()).toISOString())
    return engine
  } catch (error) {
    await engine.close()
    throw error
  }
}

/** Opens the warehouse for writing without migrating it. */
export async function openUnchanged(connection: StoredConnection, threads?: number): Promise<Engine> {
  const place = postgresTarget(connection)
  const file = duckdbFile(connection) ?? ''
  const { days } = connection
  if (!place) return leavingOverview(await openDuckdb(file, { days, threads }), file)
  const engine = await openPostgres(place.address, place.options)
  try {
    await dropLeftoverSchemas(engine)
    return engine
  } catch (error) {
    await engine.close()
    throw error
  }
}

/** Whether the warehouse exists; always true for a server. */
export function isMade(connection: StoredConnection): boolean {
  const file = duckdbFile(connection)
  return file === undefined || existsSync(file)
}

/** Opens an existing warehouse for writing. Throws MusterError for a missing file instead of creating it. */
export async function openMade(connection: StoredConnection): Promise<Engine> {
  if (isMade(connection)) return openToWrite(connection)
  throw new MusterError({
    what: 'there is no warehouse file',
    where: duckdbFile(connection) ?? '',
    next: 'run muster sync first',
  })
}

export const toleranceOf = (connection: StoredConnection): Tolerance => ({
  records: connection.quarantineRecords,
  percent: connection.quarantinePercent,
  frozen: resourcesUnder('freeze', connection.schemaPolicy),
})

export const limitsOf = (connection: Connection): RecordLimits => ({
  bytes: connection.recordMegabytes * 1_048_576,
  depth: connection.recordDepth,
  fields: connection.recordFields,
  paths: connection.undeclaredPaths,
})

export const fieldSettings = ({ fields }: StoredConnection): FieldSettings => ({
  rules: fields?.rules ?? [],
  key: fields?.key?.reveal(),
})

export function runConnection(connection: Connection): RunConnection {
  return {
    baseUrl: connection.baseUrl,
    apiKey: connection.apiKey.reveal(),
    proxies: connection.proxies,
    landing: landingPlace(connection),
    retentionDays: connection.retentionDays,
    lookbackMinutes: connection.lookbackMinutes,
    pageCapBytes: connection.pageCapMegabytes * 1_048_576,
    tolerance: toleranceOf(connection),
    limits: limitsOf(connection),
    fields: fieldSettings(connection),
    reserveBytes: connection.reserveMegabytes * 1_048_576,
  }
}

interface OpenedWarehouse<Handle> {
  readonly handle: Handle
  /** The file, or the address without its password. */
  readonly file: string
  /** Whether this is the copy without personal data, as of the last publish. */
  readonly isPublished: boolean
}

/** The working file, or else the published copy, with a notice. `open` opens one file for reading. */
async function readEither<Handle>(
  file: string,
  { notice }: NoticeOutput,
  open: (file: string) => Promise<Handle>,
): Promise<OpenedWarehouse<Handle>> {
  try {
    return { handle: await open(file), file, isPublished: false }
  } catch (error) {
    const copy = publishedFile(file)
    if (!(error instanceof FileOutOfReach) || !existsSync(copy)) throw error
    notice(`${error.report.what}: reading the published copy ${copy}`)
    return { handle: await open(copy), file: copy, isPublished: true }
  }
}

/** Undefined if there is no file. */
async function openEither(
  connection: StoredConnection,
  notices: NoticeOutput,
  threads?: number,
): Promise<OpenedWarehouse<Engine> | undefined> {
  const file = duckdbFile(connection)
  if (file === undefined) {
    const engine = await openToWrite(connection)
    return { handle: engine, file: engine.location, isPublished: false }
  }
  if (!existsSync(file) && !existsSync(publishedFile(file))) return undefined
  const options = { readOnly: true, threads }
  return readEither(file, notices, one => openDuckdb(one, options))
}

interface ReadingOptions {
  /** `ledger` is ops, which readers of a server may not read; `data` is star or mart. */
  readonly needs?: 'ledger' | 'data'
  /** As in OpenOptions. */
  readonly threads?: number
}

const mayReadData = async (engine: Engine): Promise<boolean> =>
  (await tablesIn(engine, ['star', 'mart'])).length > 0

/**
 * Undefined for a file or database without Muster's tables. Settings may name a published copy, for an analyst who has nothing
 * else: it has runs, but not the structure of the working file.
 */
async function ifSynced(
  opened: OpenedWarehouse<Engine>,
  needs: ReadingOptions['needs'],
): Promise<OpenedWarehouse<Engine> | undefined> {
  if (opened.isPublished) return opened
  if (needs === 'ledger') await opened.handle.requireReader()
  const tables = await existingTables(opened.handle)
  if (tables.has('migration')) {
    await requireReadable(opened.handle)
    return opened
  }
  const isCopy = opened.handle.isShared
    ? needs === 'data' && (await mayReadData(opened.handle))
    : tables.has('run')
  return isCopy ? { ...opened, isPublished: true } : undefined
}

/** Undefined when no sync has written to this warehouse. Throws MusterError for a user who may not read its ledger. */
export async function openIfSynced(
  connection: StoredConnection,
  notices: NoticeOutput,
  { needs = 'ledger', threads }: ReadingOptions = {},
): Promise<OpenedWarehouse<Engine> | undefined> {
  const opened = await openEither(connection, notices, threads)
  if (!opened) return undefined
  let found: OpenedWarehouse<Engine> | undefined
  try {
    found = await ifSynced(opened, needs)
    return found
  } finally {
    if (!found) await opened.handle.close()
  }
}

/** Throws MusterError if there is nothing to read. */
export async function openToRead(
  connection: StoredConnection,
  notices: NoticeOutput,
  reading: ReadingOptions = {},
): Promise<OpenedWarehouse<Engine>> {
  const opened = await openIfSynced(connection, notices, reading)
  if (opened) return opened
  const file = duckdbFile(connection)
  if (file === undefined)
    throw new MusterError({
      what: 'nothing was synced into this database yet, or this user may not read it',
      where: postgresTarget(connection)?.address.shown ?? '',
      next: 'run muster sync first, or check the user and schemaPrefix',
    })
  throw new MusterError({
    what: existsSync(file) ? 'nothing was synced into this file yet' : 'there is no warehouse file',
    where: file,
    next: 'run muster sync first',
  })
}

/** Opens the warehouse for one ad hoc query; the published copy has no history. */
export async function openForQuery(
  connection: StoredConnection,
  notices: NoticeOutput,
  { needsHistory = false }: { readonly needsHistory?: boolean } = {},
): Promise<QuerySession> {
  const place = postgresTarget(connection)
  const bounds = connection.queries
  if (place) return openPostgresQuery(place.address, { bounds, prefix: place.options.schemaPrefix })
  const file = duckdbFile(connection) ?? ''
  if (needsHistory) return openQuery(file, bounds)
  return (await readEither(file, notices, one => openQuery(one, bounds))).handle
}
