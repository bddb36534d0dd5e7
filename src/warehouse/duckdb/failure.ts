/** Explains in one line why a DuckDB file did not open, or why a statement failed. */
import {
  ConfigError,
  DiskFull,
  Interrupted,
  limitBehind,
  MusterError,
  OutOfMemory,
} from '../../lib/errors.ts'

/** The file is locked, forbidden or missing: a published copy may do instead. */
export class OutOfReach extends MusterError {}

/** Another process has it. */
export class InUse extends OutOfReach {
  override readonly exitCode = 75
}

interface Reason {
  readonly pattern: RegExp
  /** What follows the name of the file, where it is about one beside it. */
  readonly beside?: string
  readonly what: string
  readonly next: string
  readonly error?: typeof MusterError
}

/** DuckDB gives up a database in the middle of a commit or rollback. */
const invalidated: Reason = {
  pattern: /database has been invalidated/i,
  what: 'DuckDB could not go on after a statement that failed, most likely for want of memory',
  next: 'run the command again; what was committed is kept',
}

const reasons: readonly Reason[] = [
  invalidated,
  {
    pattern: /WAL does not match|WAL was created for|WAL checkpoint iteration/,
    beside: '.wal',
    what: 'the log beside the warehouse file is of another file, or of a newer state of this one',
    next: 'bring back the file that it belongs to; or move the log away, and run muster sync and muster replay for what it had',
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
    error: InUse,
  },
  {
    pattern: /permission denied/i,
    what: 'the warehouse file cannot be opened',
    next: 'check who may read and write it',
    error: OutOfReach,
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
    error: OutOfReach,
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

/** The error itself where the user can do nothing about it. */
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
    return new Interrupted({
      what: 'a statement was interrupted',
      where: file,
      next: 'run the command again; what was committed is kept',
      cause,
    })
  // A delete that ran out of memory leaves rows that no other can delete until the file is attached anew. Nobody else deletes
  // meanwhile, so a conflict means nothing else.
  if (says(/^out of memory error|conflict on tuple deletion/i))
    return new OutOfMemory({
      what: 'the rows of one statement do not fit into the memory that DuckDB may use',
      where: file,
      next: 'nothing of them was written; run again with --verbose to see how much it was',
      cause,
    })
  if (says(invalidated.pattern)) return new MusterError({ ...invalidated, where: file, cause })
  // Without the values that it quotes. Tables of records have no constraint in a file but those that others added.
  if (says(/^constraint error/i)) {
    const column = /NOT NULL constraint failed: (\S+)/i.exec(String(cause))?.[1]
    return new MusterError({
      what: `${column === undefined ? 'a unique index or constraint' : `a constraint that ${column} is not null`} of the warehouse file refuses its rows`,
      where: file,
      next: 'drop what others added, which duckdb_indexes() and duckdb_constraints() list; nothing of the batch was written, and the records are not at fault',
      cause,
    })
  }
  // The log and the temporary folder lie beside the warehouse file and have rights of their own.
  if (says(/: permission denied|read-only file system/i) && String(cause).includes(file))
    return new MusterError({
      what: 'nothing can be written beside the warehouse file',
      where: file,
      next: 'check who may write in its folder',
      cause,
    })
  return cause
}

/** Somebody has put another file in place, or none, without heeding the lock: nobody will see what this process has written. */
export const replacedMeanwhile = (file: string): InUse =>
  new InUse({
    what: 'the warehouse file was replaced or removed while it was written: nothing of this run is in the one that is there',
    where: file,
    next: 'run the command again',
  })

/** The rows of the log did not fit into the file. */
export function logKept(file: string, cause: unknown): MusterError {
  const Failure = cause instanceof DiskFull ? DiskFull : MusterError
  return new Failure({
    what: `${cause instanceof DiskFull ? 'the disk is full' : 'the warehouse file could not be written'}: what was committed is in its log only`,
    where: `${file}.wal`,
    next: `keep the log beside the file, ${limitBehind(cause)?.report.next ?? 'free some space, and run the command again'}, which writes it into the file`,
    cause,
  })
}
