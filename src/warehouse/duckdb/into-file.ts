/** Decides when committed rows move from the log and from memory into the DuckDB file, and moves them. */

import { existsSync, statSync } from 'node:fs'
import type { DayRule } from '../../lib/day-rule.ts'
import { DiskFull, StatementInterrupted } from '../../lib/errors.ts'
import { logBytes, reclaiming } from './connect.ts'
import { FileInUse, logNotWritten } from './failure.ts'
import type { DuckdbStatements } from './statements.ts'

export interface DatabaseFile {
  /** Name of the file as the user gave it, for messages. */
  readonly file: string
  /** Whether it replaces another file once it is complete. */
  readonly isDraft: boolean
  /** Path of the warehouse's log. */
  readonly log: string
  isWritten(): boolean
  isReplaced(): boolean
  /** The database that unqualified names refer to. */
  readonly home: string
  readonly days: DayRule | undefined
  /** Threads per statement. */
  readonly threads: number
}

/**
 * Compressions turned off while pages are loaded and the log is written into the file: a batch commits in 69 ms instead of
 * 109. Reclaiming space and publishing use all of them. `dict_fsst` stays on, as it is the only dictionary of texts in storage
 * version 1.4: without it 50,000 timesheets with timelogs took 209 MB instead of 70, and 12.4 s of CPU instead of 11.4.
 */
export const slowCompressions = 'fsst,zstd,alp,alprd,chimp,patas,roaring'

const quickly = (checkpoint: string): string =>
  `set disabled_compression_methods = '${slowCompressions}'; ${checkpoint}; reset disabled_compression_methods`

const logLength = ({ log }: DatabaseFile): number => statSync(log, { throwIfNoEntry: false })?.size ?? 0

/**
 * Writes a long log into the file, as DuckDB does by itself while no batch is being staged. DuckDB refuses while another
 * connection may still read rows that a commit has replaced; its statement ends soon.
 */
export async function longLogIntoFile(place: DatabaseFile, { run }: DuckdbStatements): Promise<void> {
  if (logLength(place) < logBytes) return
  try {
    await run(`checkpoint ${place.home}`)
  } catch (error) {
    if (!String(error).includes('Cannot CHECKPOINT')) throw error
  }
}

/**
 * Writes a short log into the file with one thread: with two, one busy-waits while the other waits for the disk. For the log
 * of a run that changed nothing that took 200 ms of CPU instead of 75.
 */
const threadsFor = (place: DatabaseFile, reclaims: boolean): number =>
  reclaims || logLength(place) >= logBytes ? 2 : 1

/** Does what DuckDB does on close, but reports a failure; DuckDB would silently leave the rows in the log. */
export async function intoFile(
  place: DatabaseFile,
  { run }: DuckdbStatements,
  { reclaims = false }: { readonly reclaims?: boolean | undefined } = {},
): Promise<void> {
  if (!place.isWritten() || !existsSync(place.log)) return
  try {
    const statement = `checkpoint ${place.home}`
    const threads = threadsFor(place, reclaims)
    const written = reclaims ? reclaiming(statement) : quickly(statement)
    await run(
      threads === place.threads
        ? written
        : `set threads = ${threads}; ${written}; set threads = ${place.threads}`,
    )
  } catch (error) {
    // After an interruption the rows are still in the log; the next command writes them.
    if (error instanceof StatementInterrupted || String(error).includes('Cannot CHECKPOINT')) return
    // The log now belongs to another process.
    if (error instanceof FileInUse) throw error
    throw place.isDraft && error instanceof DiskFull ? error : logNotWritten(place.file, error)
  }
}

/**
 * Max bytes of written tables in memory. A new table keeps one block per column in memory, and the rows it lost, however small
 * it is: the marts of 750 timesheets take 137 MB. After a first sync in the same process, that left too little for some
 * statements. Also writes a log that would become long soon: DuckDB would do so within a commit, with the slow compressions.
 */
const maxWaiting = 48_000_000

export async function freeMemory(
  place: DatabaseFile,
  statements: DuckdbStatements,
  max = maxWaiting,
): Promise<void> {
  const [{ bytes } = { bytes: 0 }] = await statements.rows<{ bytes: number }>(
    `select cast(sum(memory_usage_bytes) as double) as bytes from duckdb_memory()
     where tag in ('IN_MEMORY_TABLE', 'TRANSACTION')`,
  )
  if (bytes > max || logLength(place) > logBytes / 2) await intoFile(place, statements)
}
