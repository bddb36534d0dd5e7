/** Opens a DuckDB warehouse: one file, one writing process. */

import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { DiskFull, MusterError, OutOfMemory } from '../../lib/errors.ts'
import type { Engine, Fill, Value } from '../engine.ts'
import { kyselyOver } from '../kysely-dialect.ts'
import type { Ledger } from '../ledger/schema.ts'
import { quoteNames, quoteText } from '../sql-text.ts'
import { createTurns } from '../turns.ts'
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

interface Opened {
  readonly instance: DuckDBInstance
  readonly connection: DuckDBConnection
}

async function create(temporaryFolder: string, limit = memoryLimit): Promise<Opened> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: limit,
    temp_directory: temporaryFolder,
    // Rows carry their own order; keeping DuckDB's costs twice the time and memory when pages are unnested.
    preserve_insertion_order: 'false',
    // What a statement freed goes back to the system soon: 417 MB of memory at the peak instead of 467.
    allocator_flush_threshold: '16MB',
    allocator_bulk_deallocation_flush_threshold: '32MB',
    // Fewer, larger checkpoints: at the default 16 MB a backfill writes its last row groups over and over.
    wal_autocheckpoint: '64MB',
    autoinstall_known_extensions: 'false',
  })
  const connection = await instance.connect()
  await connection.run(`set timezone = 'UTC'`)
  return { instance, connection }
}

async function connect(file: string, options: OpenOptions): Promise<Opened> {
  try {
    if (!options.readOnly) mkdirSync(dirname(file), { recursive: true })
    const fresh = !existsSync(file)
    const opened = await create(`${file}.tmp`, options.memoryLimit)
    await attach(opened.connection, file, options.readOnly ?? false)
    // The working file holds pii: its owner only.
    if (fresh) chmodSync(file, 0o600)
    return opened
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
  if (says(/^out of memory error/i))
    return new OutOfMemory({
      what: 'the rows of one statement do not fit into the memory that DuckDB may use',
      where: file,
      next: 'nothing of them was written; run again with --verbose to see how much it was',
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

/** Statements of the engine, each in its turn. */
function statements(file: string, { connection }: Opened) {
  const explained = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      throw statementError(file, error)
    }
  }
  const { exclusive, statement, transaction, onIdle } = createTurns({
    begin: () => explained(() => connection.run('begin transaction')),
    commit: () => explained(() => connection.run('commit')),
    rollback: () => explained(() => connection.run('rollback')),
  })
  const told = <Result>(work: () => Promise<Result>): Promise<Result> => statement(() => explained(work))
  const rows = <Row extends object>(sql: string, values: readonly Value[] = []): Promise<Row[]> =>
    told(async () => {
      const reader = await connection.runAndReadAll(sql, bound(values))
      return reader.getRowObjects().map(row => plainRow(row) as Row)
    })
  const run = (sql: string, values: readonly Value[] = []): Promise<number> =>
    told(async () => (await connection.run(sql, bound(values))).rowsChanged)
  return { exclusive, transaction, onIdle, rows, run }
}

function engineOver(file: string, opened: Opened): Engine {
  const { exclusive, transaction, onIdle, rows, run } = statements(file, opened)
  const announced = new Set<string>()
  const insert = ({ table, columns, select }: Fill): string =>
    `insert into ${table} (${quoteNames(columns)}) ${select}`
  return {
    name: 'duckdb',
    location: file,
    schema: name => name,
    rows,
    run,
    transaction,
    // The lock on the file keeps other processes out already.
    merge: transaction,
    exclusive,
    get stage() {
      return this
    },
    // Stage and warehouse are one connection: a temporary table of one is a table of the other.
    pack(freight) {
      const fills = freight.filter(one => 'select' in one)
      return {
        packed: Promise.resolve(),
        async deliver() {
          for (const fill of fills) await run(insert(fill))
        },
        discard() {},
      }
    },
    async lend(name, _, select) {
      await run(`create or replace temp table ${name} as ${select}`)
    },
    async announce(name) {
      announced.add(name)
    },
    // Whoever is not in this process has lost the lock on the file.
    isPresent: async name => announced.has(name),
    async evict() {},
    ledger: kyselyOver<Ledger>(rows),
    async close() {
      await onIdle()
      opened.connection.closeSync()
      opened.instance.closeSync()
    },
  }
}

export async function openDuckdb(file: string, options: OpenOptions = {}): Promise<Engine> {
  return engineOver(file, await connect(file, options))
}

/** A DuckDB without a file, which reads pages for a warehouse elsewhere; what does not fit into memory goes to the folder. */
export async function openStage(temporaryFolder: string): Promise<Engine> {
  const opened = await create(temporaryFolder)
  await opened.connection.run(`attach ':memory:' as stage`)
  return engineOver(temporaryFolder, opened)
}
