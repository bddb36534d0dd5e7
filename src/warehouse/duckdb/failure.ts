/** Explains in one line why a DuckDB file did not open, or why a statement failed. */
import {
  ConfigError,
  DiskFull,
  limitBehind,
  MusterError,
  OutOfMemory,
  StatementInterrupted,
} from '../../lib/errors.ts'

/** The file is locked, forbidden or missing; a published copy may serve instead. */
export class FileOutOfReach extends MusterError {}

/** Another process has the file open. */
export class FileInUse extends FileOutOfReach {
  override readonly exitCode = 75
}

interface DuckdbReason {
  readonly pattern: RegExp
  /** Suffix of the file name, if the error is about a file beside the warehouse. */
  readonly beside?: string
  readonly what: string
  readonly next: string
  readonly error?: typeof MusterError
}

/** DuckDB invalidates a database when a commit or rollback fails. */
const invalidated: DuckdbReason = {
  pattern: /database has been invalidated/i,
  what: 'DuckDB could not continue after a failed statement, most likely because memory ran out',
  next: 'run the command again; what was committed is kept',
}

const reasons: readonly DuckdbReason[] = [
  invalidated,
  {
    pattern: /WAL does not match|WAL was created for|WAL checkpoint iteration/,
    beside: '.wal',
    what: 'the log beside the warehouse file belongs to another file, or to a newer state of this one',
    next: 'restore the file that it belongs to; or move the log away, then run muster sync and muster replay to get its rows again',
  },
  {
    pattern: /name too long/i,
    what: 'the name of the warehouse file, or of one beside it, is too long',
    next: 'give it a name of at most 200 bytes',
    error: ConfigError,
  },
  {
    pattern: /no space left/i,
    what: 'the disk is full',
    next: 'free some space and run the command again',
    error: DiskFull,
  },
  {
    pattern: /could not set lock|being used by another process/i,
    what: 'another process has the warehouse file open',
    next: 'wait for it to end, with --wait 10m, or read the published copy; DuckDB allows one writing process',
    error: FileInUse,
  },
  {
    pattern: /permission denied/i,
    what: 'the warehouse file cannot be opened',
    next: 'check the permissions of the file',
    error: FileOutOfReach,
  },
  {
    pattern: /is a directory/i,
    what: 'this is a folder, not a warehouse file',
    next: 'name a file in it, such as duckdb:data/acme.duckdb',
  },
  {
    pattern: /not a valid duckdb|serialization|checksum|corrupt|internal error|could not read enough bytes/i,
    what: 'this is not a DuckDB file, or it is damaged',
    next: 'name another file, or move it away and run muster replay to rebuild it from the landed pages',
  },
  {
    pattern: /no such file|does not exist|cannot open/i,
    what: 'there is no warehouse file',
    next: 'run muster sync first',
    error: FileOutOfReach,
  },
]

export function openError(file: string, cause: unknown): MusterError {
  if (cause instanceof MusterError) return cause
  const text = cause instanceof Error ? cause.message : String(cause)
  const holder = /PID (\d+)/.exec(text)?.[1]
  const reason = reasons.find(({ pattern }) => pattern.test(text))
  const what = reason?.what ?? 'the warehouse file cannot be opened'
  const Failure = reason?.error ?? MusterError
  const limit = reason ? undefined : limitBehind(cause)
  if (limit !== undefined) return limit
  return new Failure({
    what: holder ? `${what} (process ${holder})` : what,
    where: `${file}${reason?.beside ?? ''}`,
    next: reason?.next ?? 'run again with --verbose to see what DuckDB says',
    cause,
  })
}

/** Returns the error itself if the user can do nothing about it. */
export function statementError(file: string, cause: unknown): unknown {
  const says = (pattern: RegExp): boolean => cause instanceof Error && pattern.test(cause.message)
  if (says(/no space left on device|disk quota exceeded/i))
    return new DiskFull({
      what: 'the disk is full',
      where: file,
      next: 'free some space and run the command again; what was committed is kept',
      cause,
    })
  if (says(/^interrupt error/i))
    return new StatementInterrupted({
      what: 'a statement was interrupted',
      where: file,
      next: 'run the command again; what was committed is kept',
      cause,
    })
  // After a delete that ran out of memory, no statement can delete those rows until the file is attached again. There is no
  // other writer, so a conflict always means this.
  if (says(/^out of memory error|conflict on tuple deletion/i))
    return new OutOfMemory({
      what: 'the rows of one statement do not fit into the memory that DuckDB may use',
      where: file,
      next: 'none of them were written; run again with --verbose to see how much memory was needed',
      cause,
    })
  if (says(invalidated.pattern)) return new MusterError({ ...invalidated, where: file, cause })
  // Leaves out quoted values. In a file, tables of records have only constraints that other programs added.
  if (says(/^constraint error/i)) {
    const column = /NOT NULL constraint failed: (\S+)/i.exec(String(cause))?.[1]
    return new MusterError({
      what: `${column === undefined ? 'a unique index or constraint' : `a constraint that ${column} is not null`} of the warehouse file rejects its rows`,
      where: file,
      next: 'drop indexes and constraints that Muster did not create, see duckdb_indexes() and duckdb_constraints(); nothing of the batch was written, and the records are not at fault',
      cause,
    })
  }
  // The log and the temporary folder are beside the warehouse file and have their own permissions.
  if (says(/: permission denied|read-only file system/i) && String(cause).includes(file))
    return new MusterError({
      what: 'the folder of the warehouse file cannot be written',
      where: file,
      next: 'check the permissions of the folder',
      cause,
    })
  return cause
}

/** The file was replaced or removed despite the lock: the rows that this process wrote are lost. */
export const replacedMeanwhile = (file: string): FileInUse =>
  new FileInUse({
    what: 'the warehouse file was replaced or removed while it was written: the present file has nothing of this run',
    where: file,
    next: 'run the command again',
  })

/** The rows of the log did not fit into the file. */
export function logNotWritten(file: string, cause: unknown): MusterError {
  const Failure = cause instanceof DiskFull ? DiskFull : MusterError
  return new Failure({
    what: `${cause instanceof DiskFull ? 'the disk is full' : 'the warehouse file could not be written'}: what was committed is in its log only`,
    where: `${file}.wal`,
    next: `keep the log beside the file, ${limitBehind(cause)?.report.next ?? 'free some space, and run the command again'}, which writes it into the file`,
    cause,
  })
}
