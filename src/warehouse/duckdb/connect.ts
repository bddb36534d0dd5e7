/** A DuckDB instance with the warehouse attached, set up for loading beside other things in a small process. */
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { quoteText } from '../sql-text.ts'
import { openError } from './open-error.ts'
import { attachMemory } from './stage-database.ts'

/**
 * Memory for DuckDB's own buffers, of which reading pages reserves 32 MB a connection and uses what a page needs. What does not
 * fit goes to a temporary folder beside the file. A million timesheets take 482 MB in all, and 499 MB with 240 MB here.
 */
const memoryLimit = '230MB'

export interface OpenOptions {
  readonly readOnly?: boolean
  readonly memoryLimit?: string
}

/**
 * Rows per row group. A batch holds some 10,000 records: full groups go to the file at once, compressed, instead of
 * staying in memory and in the log until the next checkpoint, as they would at DuckDB's own 122,880. What is known of each
 * group stays in memory: with twice as many a million timesheets took 523 MB instead of 499.
 */
const rowsPerGroup = 8192

/** Wide tables hold a block a column in memory while they are appended to; DuckDB's own blocks are 256 KiB. */
const blockBytes = 65_536

async function attach(connection: DuckDBConnection, file: string, readOnly: boolean): Promise<void> {
  // The block size is fixed when a file is made; naming another one later is refused.
  const size = existsSync(file) ? '' : `block_size ${blockBytes}, `
  const options = readOnly ? 'read_only' : `${size}row_group_size ${rowsPerGroup}`
  await connection.run(`attach ${quoteText(file)} as warehouse (${options})`)
}

/** What is not in the file yet takes memory, and pushes pages out of it: 449 MB in all instead of 520 at 64 MB. */
export const logBytes = 16_000_000

export interface Opened {
  readonly instance: DuckDBInstance
  readonly connection: DuckDBConnection
}

export async function create(temporaryFolder: string, limit = memoryLimit): Promise<Opened> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: limit,
    temp_directory: temporaryFolder,
    // Rows carry their own order; keeping DuckDB's costs twice the time and memory when pages are unnested.
    preserve_insertion_order: 'false',
    wal_autocheckpoint: `${logBytes}B`,
    // A checkpoint would write half-full row groups anew each time; `tidy` does so once, where rows were removed.
    max_vacuum_tasks: '0',
    autoinstall_known_extensions: 'false',
  })
  return { instance, connection: await instance.connect() }
}

/**
 * Every connection has the same home and the same time, and a schema `stage` that is its own, in a database `stage_N`: rows
 * go into it on every thread, which they do not with temporary tables.
 */
export async function setUp(
  connection: DuckDBConnection,
  at: { readonly home: string; readonly stage: string },
): Promise<void> {
  await connection.run(`set timezone = 'UTC'`)
  await connection.run(`create schema ${at.stage}.stage`)
  await connection.run(`set search_path = '${at.home}.main,${at.stage}.stage'`)
}

export async function connect(file: string, options: OpenOptions): Promise<Opened> {
  try {
    if (!options.readOnly) mkdirSync(dirname(file), { recursive: true })
    const fresh = !existsSync(file)
    const opened = await create(`${file}.tmp`, options.memoryLimit)
    await attach(opened.connection, file, options.readOnly ?? false)
    await attachMemory(opened.connection, 'stage_0')
    await setUp(opened.connection, { home: 'warehouse', stage: 'stage_0' })
    // The working file holds pii: its owner only.
    if (fresh) chmodSync(file, 0o600)
    return opened
  } catch (error) {
    throw openError(file, error)
  }
}

/**
 * Closing writes what is still in the log. Where rows were removed it takes their space back as well; without, it would
 * join row groups of a first sync that are not full: 1.0 s instead of 0.25 s after 100,000 timesheets, for a larger file.
 */
export async function tidy(connection: DuckDBConnection): Promise<void> {
  await connection.run('reset max_vacuum_tasks')
}
