/** A DuckDB instance: the warehouse attached, a stage for each connection, set up for a small process. */

import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { zoneVariable } from '../../contract/fields/day-in-zone.ts'
import { MusterError } from '../../lib/errors.ts'
import { usualZone } from '../../lib/zones.ts'
import { makeScratch, type Scratch } from '../../temporary/scratch.ts'
import { quoteText } from '../sql-text.ts'
import { realFile, requireOneName, requireOrdinary } from './database-file.ts'
import { openError } from './failure.ts'
import { attachMemory } from './stage-database.ts'

/**
 * Memory for DuckDB's buffers; reading pages reserves 32 MB of it a connection. DuckDB spills to a temporary folder beside
 * the file. The process peaks at 482 MB over a million timesheets, and at 499 MB with 240 MB here.
 */
const memoryLimit = '230MB'

/**
 * Each thread of a statement pins memory of its own. With the usual one a core, every build of marts over 100,000 timesheets
 * ran out of memory on machines of 8 cores and more.
 */
const usualThreads = 2

export interface OpenOptions {
  readonly readOnly?: boolean
  readonly memoryLimit?: string | undefined
  /** Of a statement, where the usual number would wait for each other more than they share: for a warehouse of few rows. */
  readonly threads?: number | undefined
  /** IANA name of the zone in which days are counted; the usual one when absent. */
  readonly reportingZone?: string
  /** Whether the file takes the place of another once it is whole: until then nothing of it counts. */
  readonly isDraft?: boolean
}

/**
 * Rows per row group. A batch holds some 10,000 records: full groups go to the file at once, compressed, where those of
 * DuckDB's default 122,880 rows would stay in memory and in the log until the next checkpoint. The metadata of each group
 * stays in memory: with groups half as large a million timesheets took 523 MB instead of 499.
 */
const rowsPerGroup = 8192

/** A table keeps one block a column in memory while rows are appended; DuckDB's default is 256 KiB. */
const blockBytes = 65_536

/**
 * Since this one a log names its file and the state of it that it continues: without, DuckDB reads any log beside a file, and
 * that of a crash doubled rows of a backup that was put back. A file of an earlier release is raised to it when it is written.
 */
const storageVersion = 'v1.4.0'

export interface Attached {
  readonly file: string
  readonly name: string
  readonly readOnly: boolean
}

export async function attachAs(
  connection: DuckDBConnection,
  { file, name, readOnly }: Attached,
): Promise<void> {
  // The block size is fixed when a file is created; DuckDB refuses to attach it with another.
  const size = existsSync(file) ? [] : [`block_size ${blockBytes}`]
  const options = readOnly
    ? ['read_only']
    : [...size, `row_group_size ${rowsPerGroup}`, `storage_version '${storageVersion}'`]
  await connection.run(`attach ${quoteText(file)} as ${name} (${options.join(', ')})`)
}

/** Length of the log at which it goes into the file. Its rows take memory until then: 449 MB in all instead of 520 at 64 MB. */
export const logBytes = 16_000_000

export interface Opened {
  readonly instance: DuckDBInstance
  readonly connection: DuckDBConnection
  /** Folder of temporary files. */
  readonly temporary: Scratch
  /** Of a statement, while no batch is loaded. */
  readonly threads: number
}

/** A database file that is attached as the warehouse. */
export interface OpenedFile extends Opened {
  /** Where it is, links followed. */
  readonly file: string
  readonly readOnly: boolean
  /** Whether this process writes the file, and no other has taken its place. */
  isWritten(): boolean
  /** Whether this process writes a file that is not the one at its place any more: nobody will see what is written. */
  isReplaced(): boolean
}

type InstanceOptions = Pick<OpenOptions, 'memoryLimit' | 'threads'>

/** Rows that do not fit into memory go into a temporary folder in this one. */
export async function create(folder: string, options: InstanceOptions = {}): Promise<Opened> {
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
  { memoryLimit: limit = memoryLimit, threads = usualThreads }: InstanceOptions,
): Promise<Omit<Opened, 'temporary'>> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: limit,
    threads: String(threads),
    temp_directory: temporaryFolder,
    // Rows carry a locator; to preserve the insertion order would double time and memory when pages are unnested.
    preserve_insertion_order: 'false',
    wal_autocheckpoint: `${logBytes}B`,
    // Otherwise each checkpoint would rewrite half-full row groups; `reclaiming` does it when enough rows were removed.
    max_vacuum_tasks: '0',
    autoinstall_known_extensions: 'false',
  })
  const connection = await instance.connect()
  return { instance, connection, threads }
}

/**
 * Every connection has the same home and time zone, and its own schema `stage` in a database `stage_N`: unlike temporary
 * tables, those are written by all threads.
 */
export async function setUp(
  connection: DuckDBConnection,
  at: { readonly home: string; readonly stage: string; readonly zone: string | undefined },
): Promise<void> {
  await connection.run(`set timezone = 'UTC'`)
  await connection.run(`set variable ${zoneVariable} = ${quoteText(at.zone ?? usualZone)}`)
  await connection.run(`create schema ${at.stage}.stage`)
  await connection.run(searchPath(at))
}

export const searchPath = ({ home, stage }: { readonly home: string; readonly stage: string }): string =>
  `set search_path = '${home}.main,${stage}.stage'`

const inodeOf = (file: string): bigint | undefined =>
  statSync(file, { throwIfNoEntry: false, bigint: true })?.ino

function closeInstance({ connection, instance, temporary }: Opened): void {
  connection.closeSync()
  instance.closeSync()
  temporary.remove()
}

/**
 * Another process may put a new file in place between the moment when this one opens the old file and when it locks it.
 * With one thread: where there are several, the one that asked for a statement is busy waiting while another waits for the disk.
 */
async function openCurrent(name: string, file: string, options: OpenOptions): Promise<Opened> {
  const { readOnly = false, reportingZone, threads = usualThreads } = options
  for (;;) {
    const before = inodeOf(file)
    const opened = await (readOnly ? createToRead : create)(dirname(name), { ...options, threads: 1 })
    try {
      await attachAs(opened.connection, { file, name: 'warehouse', readOnly })
      if (before === undefined || before === inodeOf(file)) {
        await attachMemory(opened.connection, 'stage_0')
        await setUp(opened.connection, { home: 'warehouse', stage: 'stage_0', zone: reportingZone })
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

/** Who may not write beside the file can read it all the same, as long as nothing has to be spilled. */
async function createToRead(folder: string, options: InstanceOptions): Promise<Opened> {
  try {
    return await create(folder, options)
  } catch (error) {
    if (!(error instanceof MusterError)) throw error
    const nowhere: Scratch = { path: join(folder, '.muster-spill'), remove() {} }
    return { ...(await connectTo(nowhere.path, options)), temporary: nowhere }
  }
}

/**
 * Lets one checkpoint merge row groups that have lost rows, which takes 0.5 s where 500 of 100,000 timesheets changed. Without
 * removed rows it would only merge the half-full row groups of a first sync: 1.0 s instead of 0.25 s, for a larger file.
 */
export const reclaiming = (checkpoint: string): string =>
  `reset max_vacuum_tasks; ${checkpoint}; set max_vacuum_tasks = 0`
