/** Opens a DuckDB instance for a small process: attaches the warehouse, and a stage for each connection. */

import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { daySql, dayVariables } from '../../contract/fields/day-in-zone.ts'
import { type DayRule, defaultDays } from '../../lib/day-rule.ts'
import { MusterError } from '../../lib/errors.ts'
import { makeScratch, type Scratch } from '../../temporary/scratch.ts'
import { quoteText } from '../sql-text.ts'
import { realFile, requireOneName, requireOrdinary } from './database-file.ts'
import { openError } from './failure.ts'
import { attachMemory } from './stage-database.ts'

/**
 * Memory for DuckDB's buffers; reading pages reserves 32 MB of it per connection. DuckDB spills to a temporary folder beside
 * the file. The process peaks at 482 MB over a million timesheets, and at 499 MB with 240 MB here.
 */
const memoryLimit = '230MB'

/**
 * Each thread of a statement pins its own memory. With DuckDB's default of one per core, every build of marts over 100,000
 * timesheets ran out of memory on machines of 8 cores and more.
 */
const defaultThreads = 2

export interface OpenOptions {
  readonly readOnly?: boolean
  readonly memoryLimit?: string | undefined
  /** Threads per statement, for a small warehouse, where the default number would mostly wait for each other. */
  readonly threads?: number | undefined
  /** How days are counted; the default if absent. */
  readonly days?: DayRule
  /** Whether the file replaces another once it is complete; until then its rows may be lost. */
  readonly isDraft?: boolean
}

/**
 * Rows per row group. A batch has some 10,000 records: full groups go to the file at once, compressed, while groups of
 * DuckDB's default 122,880 rows would stay in memory and in the log until the next checkpoint. The metadata of each group
 * stays in memory: with groups half as large a million timesheets took 523 MB instead of 499.
 */
const rowsPerGroup = 8192

/** A table keeps one block per column in memory while rows are appended; DuckDB's default is 256 KiB. */
const blockBytes = 65_536

/**
 * From this version on, a log names its file and the state of the file that it continues. Before, DuckDB replayed any log
 * beside a file: after a crash it doubled rows of a restored backup. Writing a file of an older version raises it to this one.
 */
const storageVersion = 'v1.4.0'

export interface AttachedFile {
  readonly file: string
  readonly name: string
  readonly readOnly: boolean
}

export async function attachAs(
  connection: DuckDBConnection,
  { file, name, readOnly }: AttachedFile,
): Promise<void> {
  // The block size is fixed when a file is created; DuckDB refuses to attach it with another.
  const size = existsSync(file) ? [] : [`block_size ${blockBytes}`]
  const options = readOnly
    ? ['read_only']
    : [...size, `row_group_size ${rowsPerGroup}`, `storage_version '${storageVersion}'`]
  await connection.run(`attach ${quoteText(file)} as ${name} (${options.join(', ')})`)
}

/** Log size at which DuckDB writes it into the file. Its rows take memory until then: 449 MB in all, or 520 MB with 64 MB here. */
export const logBytes = 16_000_000

export interface OpenedInstance {
  readonly instance: DuckDBInstance
  readonly connection: DuckDBConnection
  /** Folder of temporary files. */
  readonly temporary: Scratch
  /** Threads per statement while no batch is loaded. */
  readonly threads: number
}

/** A database file that is attached as the warehouse. */
export interface OpenedFile extends OpenedInstance {
  /** Its path, with links resolved. */
  readonly file: string
  readonly readOnly: boolean
  /** Whether this process writes the file, and no other file has replaced it. */
  isWritten(): boolean
  /** Whether the file that this process writes was replaced, so that its rows would be lost. */
  isReplaced(): boolean
}

type InstanceOptions = Pick<OpenOptions, 'memoryLimit' | 'threads'>

/** Rows that do not fit into memory spill into a temporary folder inside `folder`. */
export async function create(folder: string, options: InstanceOptions = {}): Promise<OpenedInstance> {
  const temporary = makeScratch(folder)
  try {
    return { ...(await connectTo(temporary.path, options)), temporary }
  } catch (error) {
    temporary.remove()
    throw error
  }
}

async function connectTo(
  temporaryFolder: string,
  { memoryLimit: limit = memoryLimit, threads = defaultThreads }: InstanceOptions,
): Promise<Omit<OpenedInstance, 'temporary'>> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: limit,
    threads: String(threads),
    temp_directory: temporaryFolder,
    // Rows have a locator; preserving insertion order would double time and memory when pages are unnested.
    preserve_insertion_order: 'false',
    wal_autocheckpoint: `${logBytes}B`,
    // Otherwise each checkpoint would rewrite half-full row groups; `reclaiming` does so once enough rows were removed.
    max_vacuum_tasks: '0',
    autoinstall_known_extensions: 'false',
  })
  const connection = await instance.connect()
  return { instance, connection, threads }
}

/**
 * Gives a connection the same home and time zone as all others, and its own schema `stage` in a database `stage_N`: unlike
 * temporary tables, all threads can write its tables.
 */
export async function setUp(
  connection: DuckDBConnection,
  at: { readonly home: string; readonly stage: string; readonly days: DayRule | undefined },
): Promise<void> {
  await connection.run(`set timezone = 'UTC'`)
  const { zone, from, until } = daySql(at.days ?? defaultDays)
  await connection.run(
    `set variable ${dayVariables.zone} = ${zone}; set variable ${dayVariables.from} = ${from};
     set variable ${dayVariables.until} = ${until}`,
  )
  await connection.run(`create schema ${at.stage}.stage`)
  await connection.run(searchPath(at))
}

export const searchPath = ({ home, stage }: { readonly home: string; readonly stage: string }): string =>
  `set search_path = '${home}.main,${stage}.stage'`

const inodeOf = (file: string): bigint | undefined =>
  statSync(file, { throwIfNoEntry: false, bigint: true })?.ino

function closeInstance({ connection, instance, temporary }: OpenedInstance): void {
  connection.closeSync()
  instance.closeSync()
  temporary.remove()
}

/**
 * Opens again if another process replaced the file after this one opened it and before it locked it. Opens with one thread:
 * with several, one busy-waits while another waits for the disk.
 */
async function openCurrent(name: string, file: string, options: OpenOptions): Promise<OpenedInstance> {
  const { readOnly = false, days, threads = defaultThreads } = options
  for (;;) {
    const before = inodeOf(file)
    const opened = await (readOnly ? createToRead : create)(dirname(name), { ...options, threads: 1 })
    try {
      await attachAs(opened.connection, { file, name: 'warehouse', readOnly })
      if (before === undefined || before === inodeOf(file)) {
        await attachMemory(opened.connection, 'stage_0')
        await setUp(opened.connection, { home: 'warehouse', stage: 'stage_0', days })
        if (threads !== 1) await opened.connection.run(`set threads = ${threads}`)
        return { ...opened, threads }
      }
    } catch (error) {
      closeInstance(opened)
      throw error
    }
    closeInstance(opened)
  }
}

/** `name` may be a link; temporary files are beside it. */
export async function connect(name: string, options: OpenOptions): Promise<OpenedFile> {
  try {
    const file = realFile(name)
    requireOrdinary(file)
    if (!options.readOnly) {
      mkdirSync(dirname(file), { recursive: true })
      requireOneName(file)
    }
    const fresh = !existsSync(file)
    if (fresh && !options.readOnly) accessSync(dirname(file), constants.W_OK)
    const opened = await openCurrent(name, file, options)
    // The file holds personal data, so only its owner may read it.
    if (fresh) chmodSync(file, 0o600)
    const inode = inodeOf(file)
    const { readOnly = false } = options
    const isSame = (): boolean => inodeOf(file) === inode
    return {
      ...opened,
      file,
      readOnly,
      isWritten: () => !readOnly && isSame(),
      isReplaced: () => !readOnly && !isSame(),
    }
  } catch (error) {
    throw openError(name, error)
  }
}

/** A user who may not write beside the file can still read it, as long as nothing has to spill. */
async function createToRead(folder: string, options: InstanceOptions): Promise<OpenedInstance> {
  try {
    return await create(folder, options)
  } catch (error) {
    if (!(error instanceof MusterError)) throw error
    const nowhere: Scratch = { path: join(folder, '.muster-spill'), remove() {} }
    return { ...(await connectTo(nowhere.path, options)), temporary: nowhere }
  }
}

/**
 * Lets one checkpoint merge row groups that lost rows: 0.5 s after 500 of 100,000 timesheets changed. If no rows were removed,
 * it would only merge the half-full row groups of a first sync: 1.0 s instead of 0.25 s, and a larger file.
 */
export const reclaiming = (checkpoint: string): string =>
  `reset max_vacuum_tasks; ${checkpoint}; set max_vacuum_tasks = 0`
