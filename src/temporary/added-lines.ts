/** Appends lines to a file that a user names: a regular file, not a link, with no other content. */
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import { UsageError } from '../lib/errors.ts'
import { beginningOf, type GuardedPath, requireOutput } from './output-file.ts'

export interface AddedLineRules {
  readonly guarded: readonly GuardedPath[]
  /** Whether a file with this beginning contains such lines. */
  readonly isOurs: (beginning: string) => boolean
}

/** Throws UsageError for any other file, and the system's error if it cannot be written. */
export function addLine(file: string, line: string, { guarded, isOurs }: AddedLineRules): void {
  const isLines = (path: string): boolean => {
    const beginning = beginningOf(path).toString()
    return beginning === '' || isOurs(beginning)
  }
  requireOutput(file, { guarded, isForced: false, isOurs: isLines })
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  // Without O_NONBLOCK, a FIFO that has just replaced the file would wait for a reader.
  const opened = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | (O_NONBLOCK ?? 0), 0o600)
  try {
    if (!fstatSync(opened).isFile()) throw new UsageError({ what: 'this is not a regular file', where: file })
    // In one call, so that lines of two processes do not mix.
    writeSync(opened, `${line}\n`)
  } finally {
    closeSync(opened)
  }
}
