/** Defines the errors that users see: one line that says what happened, where, and what to do next. */

export interface Report {
  readonly what: string
  readonly where?: string
  readonly next?: string
  readonly cause?: unknown
}

/** Exit codes are a contract with schedulers: 1 failed, 2 usage, 3 a check failed, 75 try later, 78 configuration. */
export type ExitCode = 1 | 2 | 3 | 75 | 78

/** How a command ends: 0 is done. */
export type ExitStatus = 0 | ExitCode

export class MusterError extends Error {
  readonly exitCode: ExitCode = 1
  readonly report: Report

  constructor(report: Report) {
    const where = report.where ? ` (${report.where})` : ''
    const next = report.next ? `: ${report.next}` : ''
    super(`${report.what}${where}${next}`, { cause: report.cause })
    this.name = new.target.name
    this.report = report
  }
}

/** The command line names something that does not exist. */
export class UsageError extends MusterError {
  override readonly exitCode = 2
}

/** Settings, environment or key are wrong: running again does not help until a user corrects them. */
export class ConfigError extends MusterError {
  override readonly exitCode = 78
}

/** A check found a problem that a user has to look at; another attempt finds the same. */
export class CheckFailed extends MusterError {
  override readonly exitCode = 3
}

/** A budget or deadline is reached: everything read is loaded, and the next run continues there. */
export class BudgetSpent extends MusterError {
  override readonly exitCode = 75
}

/** Another process has what this one needs; it may be free later. */
export class Busy extends MusterError {
  override readonly exitCode = 75
}

/** A statement was interrupted by a stop signal or cancelled by a user. */
export class StatementInterrupted extends MusterError {
  override readonly exitCode = 75
}

/** A command was stopped; its message says what it has done and how to continue. */
export class CommandStopped extends MusterError {
  override readonly exitCode = 75
}

/** Start of the report of a stop, such as `stopped by SIGTERM`. */
export const stopWords = ({ reason }: AbortSignal): string =>
  reason instanceof MusterError ? reason.report.what : 'stopped as asked'

/** The disk is full: further pages or rows could not be stored. */
export class DiskFull extends MusterError {}

/** Rows are absent from a list of several pages that was read only once: they may have moved to a page already read. */
export class AbsenceUnconfirmed extends MusterError {}

/** A statement needed more memory than the engine may use: fewer rows at a time may fit. */
export class OutOfMemory extends MusterError {}

/** Only the first line of an error message: other lines may quote values. */
export const firstLineOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]?.trim() ?? ''

/** A system limit that any library may reach; each library reports it in its own words. */
interface Limit {
  readonly pattern: RegExp
  readonly what: string
  readonly next: string
}

const again = 'and run the command again'

const limits: readonly Limit[] = [
  {
    pattern: /\bEMFILE\b|too many open files(?! in system)/i,
    what: 'this process may not open more files at once',
    next: `raise the limit of open files, as with ulimit -n 1024, ${again}`,
  },
  {
    pattern: /\bENFILE\b|too many open files in system/i,
    what: 'the system may not open more files at once',
    next: `let it open more (fs.file-max), or end other programs, ${again}`,
  },
  {
    pattern:
      /\bENOMEM\b|cannot allocate memory|failed to map segment|std::bad_alloc|WebAssembly.*\bmemory\b|array buffer allocation failed/i,
    what: 'the system gives this process no more memory or address space',
    next: `raise its limit, as with ulimit -v unlimited or for the container, or end other programs, ${again}`,
  },
  {
    pattern: /pthread_create|\bEAGAIN\b|resource temporarily unavailable|(create|start)\w* (a )?thread/i,
    what: 'this process may not start more threads or processes',
    next: `raise the limit of processes, as with ulimit -u 4096 or for the container, ${again}`,
  },
  {
    pattern: /\bEFBIG\b|file too large/i,
    what: 'a file would exceed the limit of file sizes',
    next: `raise the limit of file sizes, as with ulimit -f unlimited, ${again}`,
  },
]

/** Max causes to follow; longer chains are loops or noise. */
const deepest = 10

/** The system limit that an error or one of its causes reports; undefined if none does. */
export function limitBehind(error: unknown): MusterError | undefined {
  let cause = error
  for (let depth = 0; cause instanceof Error && depth < deepest; depth += 1) {
    const text = `${'code' in cause ? cause.code : ''} ${cause.name}: ${cause.message}`
    const found = limits.find(({ pattern }) => pattern.test(text))
    if (found) return new MusterError({ what: found.what, next: found.next, cause: error })
    cause = cause.cause
  }
  return undefined
}
