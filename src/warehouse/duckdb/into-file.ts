/** When and how what was committed goes from the log, and from memory, into the DuckDB file. */

import { existsSync, statSync } from 'node:fs'
import { DiskFull, Interrupted } from '../../lib/errors.ts'
import { logBytes, reclaiming } from './connect.ts'
import { InUse, logKept } from './failure.ts'
import type { Statements } from './statements.ts'

export interface Place {
  /** As it was named, for messages. */
  readonly file: string
  /** It takes the place of another file once it is whole. */
  readonly isDraft: boolean
  /** Where the log of the warehouse goes. */
  readonly log: string
  isWritten(): boolean
  isReplaced(): boolean
  /** The database that unqualified names refer to. */
  readonly home: string
  readonly zone: string | undefined
  /** Of a statement. */
  readonly threads: number
}

/**
 * DuckDB does not try the slow compressions where pages are loaded and the log is written into the file: a batch commits in
 * 69 ms instead of 109. What reclaims space, and the published copy, tries them all. Storage version 1.4 has no dictionary of texts
 * but `dict_fsst`: without it 50,000 timesheets with timelogs took 209 MB instead of 70, and 12.4 s of the processor instead of 11.4.
 */
export const slowCompressions = 'fsst,zstd,alp,alprd,chimp,patas,roaring'

const quickly = (checkpoint: string): string =>
  `set disabled_compression_methods = '${slowCompressions}'; ${checkpoint}; reset disabled_compression_methods`

const logLength = ({ log }: Place): number => statSync(log, { throwIfNoEntry: false })?.size ?? 0

/**
 * Writes the log into the file when it is long, as DuckDB does by itself when no batch is being staged. DuckDB refuses while
 * another connection may still read the rows that a commit has replaced; its statement ends soon.
 */
export async function longLogIntoFile(place: Place, { run }: Statements): Promise<void> {
  if (logLength(place) < logBytes) return
  try {
    await run(`checkpoint ${place.home}`)
  } catch (error) {
    if (!String(error).includes('Cannot CHECKPOINT')) throw error
  }
}

/**
 * A short log goes into the file with one thread: beside another that waits for the disk DuckDB's is busy waiting, which took
 * 200 ms of the processor instead of 75 for the log of a run that changed nothing.
 */
const threadsFor = (place: Place, reclaims: boolean): number =>
  reclaims || logLength(place) >= logBytes ? 2 : 1

/** What DuckDB would do as it closes the file, without a word when that fails: the rows would be in the log alone. */
export async function intoFile(
  place: Place,
  { run }: Statements,
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
    // What is interrupted is in the log as well, and the next command writes it.
    if (error instanceof Interrupted || String(error).includes('Cannot CHECKPOINT')) return
    // The log is that of another process by now.
    if (error instanceof InUse) throw error
    throw place.isDraft && error instanceof DiskFull ? error : logKept(place.file, error)
  }
}

/**
 * A table that was just written keeps a block a column in memory, and the rows that it lost, however few its rows: the marts of
 * 750 timesheets take 137 MB, and together with a first sync in one process they left too little for some statements. A log that would be long after a few
 * more tables goes as well: DuckDB does it in the middle of a commit, with the slow compressions.
 */
const mostWaiting = 48_000_000

export async function freeMemory(place: Place, statements: Statements, most = mostWaiting): Promise<void> {
  const [{ bytes } = { bytes: 0 }] = await statements.rows<{ bytes: number }>(
    `select cast(sum(memory_usage_bytes) as double) as bytes from duckdb_memory()
     where tag in ('IN_MEMORY_TABLE', 'TRANSACTION')`,
  )
  if (bytes > most || logLength(place) > logBytes / 2) await intoFile(place, statements)
}
