/** Opens what a connection names: its warehouse to write, or the copy of it that can be read now. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Connection, StoredConnection } from '../../config/connection.ts'
import { systemClock } from '../../lib/clock.ts'
import { MusterError } from '../../lib/errors.ts'
import type { RecordLimits } from '../../load/page/record-limits.ts'
import { existingTables } from '../../state/existing-tables.ts'
import { migrate } from '../../state/migrate.ts'
import { isBehind, requireReadable } from '../../state/recorded-structure.ts'
import type { Tolerance } from '../../state/runs/runs.ts'
import type { RunConnection } from '../../sync/run/run-connection.ts'
import { openQuery } from '../../warehouse/duckdb/ad-hoc/child.ts'
import { publishedFile } from '../../warehouse/duckdb/database-file.ts'
import { OutOfReach } from '../../warehouse/duckdb/failure.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb, openPostgres, openPostgresQuery } from '../../warehouse/on-demand.ts'
import type { PostgresOptions } from '../../warehouse/postgres/open.ts'
import type { Address } from '../../warehouse/postgres/session.ts'
import { dropLeftoverSchemas } from '../../warehouse/postgres/temporary-schemas.ts'
import type { QuerySession } from '../../warehouse/query.ts'
import type { Notices } from '../surroundings.ts'
import { landingPlace } from './landing.ts'
import { leavingOverview } from './overview.ts'

/** The file of a DuckDB warehouse; undefined for one on a server. */
export const duckdbFile = ({ warehouse }: StoredConnection): string | undefined =>
  warehouse.kind === 'file' ? warehouse.file : undefined

export interface PostgresPlace {
  readonly address: Address
  readonly options: PostgresOptions
}

/** Where a PostgreSQL warehouse is; undefined for a file. */
export function postgresPlace(connection: StoredConnection): PostgresPlace | undefined {
  const { warehouse, schemaPrefix, landing, reportingZone } = connection
  if (warehouse.kind === 'file') return undefined
  return {
    address: { url: warehouse.url.reveal(), shown: warehouse.shown },
    // Beside the landed pages: rows on their way to the server are as private as the pages.
    options: {
      scratch: dirname(landing),
      reportingZone,
      ...(schemaPrefix !== undefined && { schemaPrefix }),
    },
  }
}

/**
 * Opens the warehouse to write; a DuckDB file of an earlier version is migrated first. Throws MusterError for a file of a later
 * version. `threads` as OpenOptions has them.
 */
export async function openToWrite(connection: StoredConnection, threads?: number): Promise<Engine> {
  const engine = await openUnchanged(connection, threads)
  // On a server each command that writes begins with it, in its own transaction.
  if (engine.isShared) return engine
  try {
    if (await isBehind(engine)) await migrate(engine, new Date(systemClock.now()).toISOString())
    return engine
  } catch (error) {
    await engine.close()
    throw error
  }
}

/** Opens the warehouse to write, with the structure that it has. */
export async function openUnchanged(connection: StoredConnection, threads?: number): Promise<Engine> {
  const place = postgresPlace(connection)
  const file = duckdbFile(connection) ?? ''
  const { reportingZone } = connection
  if (!place) return leavingOverview(await openDuckdb(file, { reportingZone, threads }), file)
  const engine = await openPostgres(place.address, place.options)
  try {
    await dropLeftoverSchemas(engine)
    return engine
  } catch (error) {
    await engine.close()
    throw error
  }
}

/** Whether the warehouse exists: a file that is there, or any server. */
export function isMade(connection: StoredConnection): boolean {
  const file = duckdbFile(connection)
  return file === undefined || existsSync(file)
}

/** Opens an existing warehouse to write. Throws MusterError for a missing file instead of creating it. */
export async function openMade(connection: StoredConnection): Promise<Engine> {
  if (isMade(connection)) return openToWrite(connection)
  throw new MusterError({
    what: 'there is no warehouse file',
    where: duckdbFile(connection) ?? '',
    next: 'run muster sync first',
  })
}

export const toleranceOf = ({ quarantineRecords, quarantinePercent }: StoredConnection): Tolerance => ({
  records: quarantineRecords,
  percent: quarantinePercent,
})

export const limitsOf = (connection: Connection): RecordLimits => ({
  bytes: connection.recordMegabytes * 1_048_576,
  depth: connection.recordDepth,
  fields: connection.recordFields,
  paths: connection.undeclaredPaths,
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
    reserveBytes: connection.reserveMegabytes * 1_048_576,
  }
}

export interface Opened<Handle> {
  readonly handle: Handle
  /** The file, or the address without its password. */
  readonly file: string
  /** The copy without personal data, as old as the last publish. */
  readonly isPublished: boolean
}

/** The working file, or else the published copy, with a notice. `open` opens one file for reading. */
async function readEither<Handle>(
  file: string,
  { notice }: Notices,
  open: (file: string) => Promise<Handle>,
): Promise<Opened<Handle>> {
  try {
    return { handle: await open(file), file, isPublished: false }
  } catch (error) {
    const copy = publishedFile(file)
    if (!(error instanceof OutOfReach) || !existsSync(copy)) throw error
    notice(`${error.report.what}: reading the published copy ${copy}`)
    return { handle: await open(copy), file: copy, isPublished: true }
  }
}

/** Undefined when there is no file. */
async function openEither(
  connection: StoredConnection,
  notices: Notices,
  threads?: number,
): Promise<Opened<Engine> | undefined> {
  const file = duckdbFile(connection)
  if (file === undefined) {
    const engine = await openToWrite(connection)
    return { handle: engine, file: engine.location, isPublished: false }
  }
  if (!existsSync(file) && !existsSync(publishedFile(file))) return undefined
  const options = { readOnly: true, threads }
  return readEither(file, notices, one => openDuckdb(one, options))
}

interface Reading {
  /** `ledger` is ops, to which readers of a server have no rights; `data` is star or mart. */
  readonly needs?: 'ledger' | 'data'
  /** As OpenOptions has them. */
  readonly threads?: number
}

async function mayReadData(engine: Engine): Promise<boolean> {
  const rows = await engine.rows(
    `select table_name from information_schema.tables where table_schema in ($1, $2) limit 1`,
    [engine.schema('star'), engine.schema('mart')],
  )
  return rows.length > 0
}

/**
 * Undefined for an existing file or database without tables of ours. Settings may name the copy itself, which is all that
 * an analyst is given: it has runs, and nothing of the working file's structure.
 */
async function ifSynced(
  opened: Opened<Engine>,
  needs: Reading['needs'],
): Promise<Opened<Engine> | undefined> {
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
  notices: Notices,
  { needs = 'ledger', threads }: Reading = {},
): Promise<Opened<Engine> | undefined> {
  const opened = await openEither(connection, notices, threads)
  if (!opened) return undefined
  let found: Opened<Engine> | undefined
  try {
    found = await ifSynced(opened, needs)
    return found
  } finally {
    if (!found) await opened.handle.close()
  }
}

/** Throws MusterError when there is nothing to read. */
export async function openToRead(
  connection: StoredConnection,
  notices: Notices,
  reading: Reading = {},
): Promise<Opened<Engine>> {
  const opened = await openIfSynced(connection, notices, reading)
  if (opened) return opened
  const file = duckdbFile(connection)
  if (file === undefined)
    throw new MusterError({
      what: 'nothing was synced into this database yet, or this user may not read it',
      where: postgresPlace(connection)?.address.shown ?? '',
      next: 'run muster sync first, or check the user and schemaPrefix',
    })
  throw new MusterError({
    what: existsSync(file) ? 'nothing was synced into this file yet' : 'there is no warehouse file',
    where: file,
    next: 'run muster sync first',
  })
}

/** Opens the warehouse for one ad hoc query. */
export async function openForQuery(connection: StoredConnection, notices: Notices): Promise<QuerySession> {
  const place = postgresPlace(connection)
  const bounds = connection.queries
  if (place) return openPostgresQuery(place.address, { bounds, prefix: place.options.schemaPrefix })
  const opened = await readEither(duckdbFile(connection) ?? '', notices, file => openQuery(file, bounds))
  return opened.handle
}
