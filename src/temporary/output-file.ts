/**
 * Writes all output files that a user names. Replaces only files that this program wrote, follows no links, and readers see
 * the old file or the new one, even after a power cut.
 */
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { DiskFull, MusterError, UsageError } from '../lib/errors.ts'
import { makeScratch } from './scratch.ts'

/** Files and folders that output may neither replace nor go into, such as the warehouse and its landed pages. */
export interface GuardedPath {
  readonly path: string
  /** Completes `this is …`, such as `the warehouse`. */
  readonly what: string
}

export interface OutputRules {
  readonly guarded: readonly GuardedPath[]
  /** Replace a file that another program wrote. */
  readonly isForced: boolean
  /** Whether this program wrote the existing file. */
  readonly isOurs: (file: string) => boolean
}

const refuse = (file: string, what: string, next: string): UsageError =>
  new UsageError({ what, where: file, next: `${next}; nothing was changed` })

const another = 'name another file'

/** Resolves links of its folders; the file itself need not exist. */
function settled(path: string): string {
  const full = resolve(path)
  if (existsSync(full)) return realpathSync(full)
  const parent = dirname(full)
  return parent === full ? full : join(settled(parent), basename(full))
}

const isSame = (one: Stats, other: Stats | undefined): boolean =>
  other !== undefined && one.ino === other.ino && one.dev === other.dev

/** Throws UsageError if the path is, or is inside, a guarded path. */
export function requireUnguarded(file: string, guarded: readonly GuardedPath[]): void {
  const place = settled(file)
  const found = statSync(file, { throwIfNoEntry: false })
  for (const { path, what } of guarded) {
    const other = settled(path)
    const isIn = place === other || place.startsWith(other + sep)
    if (isIn || (found && isSame(found, statSync(path, { throwIfNoEntry: false }))))
      throw refuse(file, `this is ${what}, or inside it`, another)
  }
}

/** Throws UsageError if two of the paths lead to the same file. */
export function requireDistinct(files: readonly string[]): void {
  const places = files.map(settled)
  const second = files.find((_, index) => places.indexOf(places[index] ?? '') < index)
  if (second !== undefined) throw refuse(second, 'two outputs would go to the same file', 'name two files')
}

function requireFolder(file: string): void {
  const folder = statSync(dirname(file), { throwIfNoEntry: false })
  if (folder?.isDirectory()) return
  throw refuse(
    dirname(file),
    folder ? 'this is not a folder' : 'there is no such folder',
    `create it, or ${another}`,
  )
}

const unreadable = ['EACCES', 'EISDIR', 'ELOOP', 'ENOENT', 'EPERM']

/** The beginning of a file; empty of a link, a folder, no file, and a file of another user. */
export function beginningOf(file: string, bytes = 4096): Buffer {
  const buffer = Buffer.alloc(bytes)
  let opened: number | undefined
  try {
    opened = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    return buffer.subarray(0, readSync(opened, buffer, 0, bytes, 0))
  } catch (error) {
    if (unreadable.includes(String((error as NodeJS.ErrnoException).code))) return buffer.subarray(0, 0)
    throw error
  } finally {
    if (opened !== undefined) closeSync(opened)
  }
}

/** Every DuckDB file begins like this after its checksum. */
const isDatabase = (file: string): boolean => beginningOf(file, 12).subarray(8).toString('latin1') === 'DUCK'

/** Throws UsageError if the file may not be replaced. Call before computing anything, and again before writing. */
export function requireOutput(file: string, { guarded, isForced, isOurs }: OutputRules): void {
  requireFolder(file)
  requireUnguarded(file, guarded)
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (!found) return
  if (found.isSymbolicLink()) throw refuse(file, 'this is a link', 'name the file itself')
  if (found.isDirectory()) throw refuse(file, 'this is a folder', 'name a file in it')
  if (!found.isFile()) throw refuse(file, 'this is a device or a pipe, not a file', another)
  if (isDatabase(file)) throw refuse(file, 'this is a DuckDB database', another)
  if (isOurs(file) || isForced) return
  throw refuse(file, 'this file exists already and muster did not write it', `${another}, or add --force`)
}

const fullCodes = ['ENOSPC', 'EDQUOT', 'EFBIG']

function writeError(file: string, cause: unknown): unknown {
  if (cause instanceof MusterError) return cause
  const code = String((cause as NodeJS.ErrnoException).code)
  if (fullCodes.includes(code))
    return new DiskFull({
      what: 'the disk is full',
      where: file,
      next: 'free some space and run again',
      cause,
    })
  return new MusterError({
    what: 'the file cannot be written',
    where: file,
    next: 'check the permissions of its folder and the free space',
    cause,
  })
}

/** Flushes a file, or the names in a folder. */
export function syncToDisk(path: string): void {
  const opened = openSync(path, constants.O_RDONLY)
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}

function explained<Result>(file: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw writeError(file, error)
  }
}

/** A file being written on the same file system as its target. */
export interface OutputDraft {
  readonly path: string
  /** Replaces the target. If it throws MusterError, the target is unchanged. */
  finish(): void
  /** Removes the draft unless it has replaced the target. */
  remove(): void
}

/** Throws UsageError if the file may not be replaced. */
export function beginOutput(file: string, rules: OutputRules): OutputDraft {
  requireOutput(file, rules)
  const scratch = explained(file, () => makeScratch(dirname(file)))
  const path = join(scratch.path, basename(file))
  return {
    path,
    finish: () =>
      explained(file, () => {
        // Another process may have created a file there since.
        requireOutput(file, rules)
        renameSync(path, file)
        syncToDisk(dirname(file))
      }),
    remove: scratch.remove,
  }
}

/** Writes all of the text; returns the number of bytes. If it throws MusterError, the old file is unchanged. */
export function writeOutput(
  file: string,
  text: string | Uint8Array,
  rules: OutputRules & { readonly mode?: number },
): number {
  const draft = beginOutput(file, rules)
  try {
    explained(file, () => writeFileSync(draft.path, text, { mode: rules.mode, flush: true }))
    draft.finish()
  } finally {
    draft.remove()
  }
  return Buffer.byteLength(text)
}
