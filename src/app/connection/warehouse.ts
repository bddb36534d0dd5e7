/** Opens what a connection names: its warehouse to write, or whatever copy of it can be read now. */
import { existsSync } from 'node:fs'
import type { CommandContext } from '../../cli/context.ts'
import type { Connection } from '../../config/connection.ts'
import { MusterError } from '../../lib/errors.ts'
import { existingTables } from '../../state/existing-tables.ts'
import type { RunConnection } from '../../sync/run/run.ts'
import { publishedFile } from '../../warehouse/duckdb/database-file.ts'
import { openDuckdb } from '../../warehouse/duckdb/open.ts'
import { OutOfReach } from '../../warehouse/duckdb/open-error.ts'
import { openQuery } from '../../warehouse/duckdb/query.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { requireLedger } from '../../warehouse/postgres/may-read.ts'
import { openPostgres, type PostgresOptions } from '../../warehouse/postgres/open.ts'
import { openPostgresQuery } from '../../warehouse/postgres/query.ts'
import type { Address } from '../../warehouse/postgres/session.ts'
import type { QuerySession } from '../../warehouse/query.ts'

/** The file of a DuckDB warehouse; undefined for one on a server. */
export const duckdbFile = ({ warehouse }: Connection): string | undefined =>
  warehouse.engine === 'duckdb' ? warehouse.file : undefined

export interface PostgresPlace {
  readonly address: Address
  readonly options: PostgresOptions
}

/** Where a PostgreSQL warehouse is; undefined for a file. */
export function postgresPlace(connection: Connection): PostgresPlace | undefined {
  const { warehouse, schemaPrefix, landing } = connection
  if (warehouse.engine === 'duckdb') return undefined
  return {
    address: { url: warehouse.url.reveal(), shown: warehouse.shown },
    // Beside the landed pages: what is on its way to the server is as private as they are.
    options: { scratch: `${landing}.tmp`, ...(schemaPrefix !== undefined && { schemaPrefix }) },
  }
}

/** A writer of the warehouse; of a DuckDB file the only one. */
export function openToWrite(connection: Connection): Promise<Engine> {
  const place = postgresPlace(connection)
  return place ? openPostgres(place.address, place.options) : openDuckdb(duckdbFile(connection) ?? '')
}

/** Whether there is anything to write to: a file that is not there yet is nothing, a server always is something. */
export function isMade(connection: Connection): boolean {
  const file = duckdbFile(connection)
  return file === undefined || existsSync(file)
}

/** A writer of what a sync has made. Throws MusterError for a file that is not there, and makes none. */
export async function openMade(connection: Connection): Promise<Engine> {
  if (isMade(connection)) return openToWrite(connection)
  throw new MusterError({
    what: 'there is no warehouse file',
    where: duckdbFile(connection) ?? '',
    next: 'run muster sync first',
  })
}

export function runConnection(connection: Connection): RunConnection {
  return {
    baseUrl: connection.baseUrl,
    apiKey: connection.apiKey.reveal(),
    landing: connection.landing,
    retentionDays: connection.retentionDays,
    lookbackMinutes: connection.lookbackMinutes,
    pageCapBytes: connection.pageCapMegabytes * 1_048_576,
  }
}

export interface Opened<Handle> {
  readonly handle: Handle
  /** The file, or the address without its password. */
  readonly file: string
  /** The copy without personal data, as old as the last publish. */
  readonly isPublished: boolean
}

type Told = Pick<CommandContext, 'stderr' | 'globals'>

/** The working file, else the published copy, which stderr is told of. `open` opens one file for reading. */
async function readEither<Handle>(
  file: string,
  { stderr, globals }: Told,
  open: (file: string) => Promise<Handle>,
): Promise<Opened<Handle>> {
  try {
    return { handle: await open(file), file, isPublished: false }
  } catch (error) {
    const copy = publishedFile(file)
    if (!(error instanceof OutOfReach) || !existsSync(copy)) throw error
    if (!globals.quiet) stderr.write(`${error.report.what}: reading the published copy ${copy}\n`)
    return { handle: await open(copy), file: copy, isPublished: true }
  }
}

/** Undefined when there is no file. */
async function openEither(connection: Connection, context: Told): Promise<Opened<Engine> | undefined> {
  const file = duckdbFile(connection)
  if (file === undefined) {
    const engine = await openToWrite(connection)
    return { handle: engine, file: engine.location, isPublished: false }
  }
  if (!existsSync(file) && !existsSync(publishedFile(file))) return undefined
  return readEither(file, context, one => openDuckdb(one, { readOnly: true }))
}

/** A file, or a database, that is there may have nothing of ours in it; a published copy is whole. */
async function isSynced({ handle, isPublished }: Opened<Engine>): Promise<boolean> {
  if (isPublished) return true
  if (handle.name === 'postgres') await requireLedger(handle)
  return (await existingTables(handle)).has('migration')
}

/** Undefined when no sync has made anything of this warehouse. Throws MusterError for a user who may not read its ledger. */
export async function openIfSynced(
  connection: Connection,
  context: Told,
): Promise<Opened<Engine> | undefined> {
  const opened = await openEither(connection, context)
  if (!opened) return undefined
  try {
    if (await isSynced(opened)) return opened
  } catch (error) {
    await opened.handle.close()
    throw error
  }
  await opened.handle.close()
  return undefined
}

/** Throws MusterError when there is nothing to read. */
export async function openToRead(connection: Connection, context: Told): Promise<Opened<Engine>> {
  const opened = await openIfSynced(connection, context)
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

/** For one query that somebody typed. */
export async function openForQuery(connection: Connection, context: Told): Promise<QuerySession> {
  const place = postgresPlace(connection)
  if (place) return openPostgresQuery(place.address, place.options.schemaPrefix)
  return (await readEither(duckdbFile(connection) ?? '', context, openQuery)).handle
}
