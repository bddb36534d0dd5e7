/** A file that a user names for lines to be added to: an ordinary one, through no link, that nobody keeps anything else in. */
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import { UsageError } from '../lib/errors.ts'
import { beginningOf, type Guarded, requireOutput } from './output-file.ts'

export interface AddedLineRules {
  readonly guarded: readonly Guarded[]
  /** Whether a file that begins so holds such lines. */
  readonly isOurs: (beginning: string) => boolean
}

/** Throws UsageError for any other file, and the error of the system when it cannot be written. */
export function addLine(file: string, line: string, { guarded, isOurs }: AddedLineRules): void {
  const isLines = (path: string): boolean => {
    const beginning = beginningOf(path).toString()
    return beginning === '' || isOurs(beginning)
  }
  requireOutput(file, { guarded, isForced: false, isOurs: isLines })
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  // Without O_NONBLOCK a FIFO that has just taken its place would wait for a reader.
  const opened = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | (O_NONBLOCK ?? 0), 0o600)
  try {
    if (!fstatSync(opened).isFile()) throw new UsageError({ what: 'this is no ordinary file', where: file })
    // In one call: lines of two processes must not be mixed.
    writeSync(opened, `${line}\n`)
  } finally {
    closeSync(opened)
  }
}
