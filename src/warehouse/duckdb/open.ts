/** Opens a DuckDB warehouse: one file, one writing process. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import PQueue from 'p-queue'
import { DiskFull, MusterError } from '../../lib/errors.ts'
import type { Engine, Value } from '../engine.ts'
import type { Ledger } from '../ledger/schema.ts'
import { quoteText } from '../sql-text.ts'
import { kyselyOver } from './kysely-dialect.ts'
import { openError } from './open-error.ts'
import { plainRow } from './plain-row.ts'

/**
 * Memory for DuckDB's own buffers; 208 MB were too little for a batch of pages. The process needs about as much again
 * (docs/measurements.md). What does not fit goes to a temporary folder beside the file.
 */
const memoryLimit = '256MB'

interface OpenOptions {
  readonly readOnly?: boolean
  readonly memoryLimit?: string
}

/**
 * Rows per row group. A batch holds some 10,000 records: full groups go to the file at once, compressed, instead of
 * staying in memory and in the log until the next checkpoint, as they would at DuckDB's own 122,880.
 */
const rowsPerGroup = 8192

/** Wide tables hold a block a column in memory while they are appended to; DuckDB's own blocks are 256 KiB. */
const blockBytes = 65_536

async function attach(connection: DuckDBConnection, file: string, readOnly: boolean): Promise<void> {
  // The block size is fixed when a file is made; naming another one later is refused.
  const size = existsSync(file) ? '' : `block_size ${blockBytes}, `
  const options = readOnly ? 'read_only' : `${size}row_group_size ${rowsPerGroup}`
  await connection.run(`attach ${quoteText(file)} as warehouse (${options})`)
  await connection.run('use warehouse')
  await connection.run(`attach ':memory:' as stage`)
}

async function connect(
  file: string,
  options: OpenOptions,
): Promise<{ instance: DuckDBInstance; connection: DuckDBConnection }> {
  try {
    if (!options.readOnly) mkdirSync(dirname(file), { recursive: true })
    const fresh = !existsSync(file)
    const instance = await DuckDBInstance.create(':memory:', {
      memory_limit: options.memoryLimit ?? memoryLimit,
      temp_directory: `${file}.tmp`,
      // Rows carry their own order; keeping DuckDB's costs twice the time and memory when pages are unnested.
      preserve_insertion_order: 'false',
      // Fewer, larger checkpoints: at the default 16 MB a backfill writes its last row groups over and over.
      wal_autocheckpoint: '64MB',
      autoinstall_known_extensions: 'false',
    })
    const connection = await instance.connect()
    await attach(connection, file, options.readOnly ?? false)
    // The working file holds pii: its owner only.
    if (fresh) chmodSync(file, 0o600)
    await connection.run(`set timezone = 'UTC'`)
    return { instance, connection }
  } catch (error) {
    throw openError(file, error)
  }
}

/** Without values a statement is run as it is; prepared first, a large one would be planned twice, once on this thread. */
const bound = (values: readonly Value[]): Value[] | undefined =>
  values.length === 0 ? undefined : [...values]

function statementError(file: string, cause: unknown): unknown {
  const says = (pattern: RegExp): boolean => cause instanceof Error && pattern.test(cause.message)
  if (says(/no space left on device|disk quota exceeded/i))
    return new DiskFull({
      what: 'the disk is full',
      where: file,
      next: 'free some space and run the command again; what was committed is kept',
      cause,
    })
  // The log and the temporary folder are files beside the warehouse, which its own rights say nothing of.
  if (says(/: permission denied|read-only file system/i) && String(cause).includes(file))
    return new MusterError({
      what: 'nothing can be written beside the warehouse file',
      where: file,
      next: 'check who may write in its folder',
      cause,
    })
  return cause
}

export async function openDuckdb(file: string, options: OpenOptions = {}): Promise<Engine> {
  const { instance, connection } = await connect(file, options)
  const turns = new PQueue({ concurrency: 1 })
  // A statement inside an exclusive block must not wait for the block's own turn.
  const inside = new AsyncLocalStorage<true>()
  const exclusive = <Result>(work: () => Promise<Result>): Promise<Result> =>
    inside.getStore() ? work() : turns.add(() => inside.run(true, work))

  const read = async <Row extends object>(sql: string, values: readonly Value[] = []): Promise<Row[]> =>
    exclusive(async () => {
      try {
        const reader = await connection.runAndReadAll(sql, bound(values))
        return reader.getRowObjects().map(row => plainRow(row) as Row)
      } catch (error) {
        throw statementError(file, error)
      }
    })
  const run = async (sql: string, values: readonly Value[] = []): Promise<number> =>
    exclusive(async () => {
      try {
        return (await connection.run(sql, bound(values))).rowsChanged
      } catch (error) {
        throw statementError(file, error)
      }
    })
  const transaction = <Result>(work: () => Promise<Result>): Promise<Result> =>
    exclusive(async () => {
      await run('begin transaction')
      try {
        const result = await work()
        await run('commit')
        return result
      } catch (error) {
        // A failed COMMIT has already ended the transaction; the first error is the one to report.
        await run('rollback').catch(() => undefined)
        throw error
      }
    })
  const close = async (): Promise<void> => {
    await turns.onIdle()
    connection.closeSync()
    instance.closeSync()
  }
  return {
    name: 'duckdb',
    location: file,
    rows: read,
    run,
    transaction,
    exclusive,
    ledger: kyselyOver<Ledger>(read),
    close,
  }
}
