/** The errors that users see: one line that says what happened, where, and what to do next. */

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

/** The command line asked for something that does not exist. */
export class UsageError extends MusterError {
  override readonly exitCode = 2
}

/** Settings, environment or key are wrong: running again does not help until somebody edits them. */
export class ConfigError extends MusterError {
  override readonly exitCode = 78
}

/** What was looked at is not as it must be: a person has to look, and another attempt finds the same. */
export class CheckFailed extends MusterError {
  override readonly exitCode = 3
}

/** A budget or deadline is reached: everything read is loaded, and the next run continues there. */
export class BudgetSpent extends MusterError {
  override readonly exitCode = 75
}

/** Another process has what this one needs: later it may be free. */
export class Busy extends MusterError {
  override readonly exitCode = 75
}

/** A statement was interrupted, because the process was told to stop or somebody cancelled it. */
export class Interrupted extends MusterError {
  override readonly exitCode = 75
}

/** A command was told to stop, and says itself what it has done and how to go on. */
export class Stopped extends MusterError {
  override readonly exitCode = 75
}

/** Such as `stopped by SIGTERM`: how the report of a stop begins. */
export const stopWords = ({ reason }: AbortSignal): string =>
  reason instanceof MusterError ? reason.report.what : 'stopped as asked'

/** The disk is full: further pages or rows could not be stored. */
export class DiskFull extends MusterError {}

/** Rows are absent from a list of several pages that was read once: a row may have moved past the reader. */
export class Unconfirmed extends MusterError {}

/** A statement needed more memory than the engine may use: fewer rows at a time may fit. */
export class OutOfMemory extends MusterError {}

/** Only the first line of what an error says: the others may show values. */
export const firstLineOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]?.trim() ?? ''

/** A limit of the system that any library may run into, each with its own words for it. */
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
    what: 'a file may not become as large as it has to',
    next: `raise the limit of file sizes, as with ulimit -f unlimited, ${again}`,
  },
]

/** Longer chains are loops or noise. */
const deepest = 10

/** One line about the limit that an error or one of its causes tells of; undefined when it is about something else. */
export function limitBehind(error: unknown): string | undefined {
  let cause = error
  for (let depth = 0; cause instanceof Error && depth < deepest; depth += 1) {
    const text = `${'code' in cause ? cause.code : ''} ${cause.name}: ${cause.message}`
    const found = limits.find(({ pattern }) => pattern.test(text))
    if (found) return `${found.what}: ${found.next}`
    cause = cause.cause
  }
  return undefined
}
