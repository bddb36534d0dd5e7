/** Names and checks DuckDB database files, and replaces an old file with a new one. */
import { chmodSync, existsSync, lstatSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError, MusterError } from '../../lib/errors.ts'
import { syncToDisk } from '../../temporary/output-file.ts'

/** `acme.duckdb` is published as `acme.published.duckdb` beside it. */
export const publishedFile = (file: string): string => `${file.replace(/\.duckdb$/, '')}.published.duckdb`

/** The published copy for one company. */
export const companyFile = (file: string, id: string): string =>
  publishedFile(`${file.replace(/\.duckdb$/, '')}.${id}.duckdb`)

export const isPublishedFile = (file: string): boolean => file.endsWith('.published.duckdb')

/** Resolves a link to its file: log and drafts must be beside the file, and a rename would replace only the link. */
export function realFile(file: string): string {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return file
  if (existsSync(file)) return realpathSync(file)
  throw new MusterError({
    what: 'the warehouse file is a link to a missing file',
    where: file,
    next: 'correct the link, or name the file itself',
  })
}

function requireOne(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false })
  // DuckDB's own message explains a folder.
  if (!stats || stats.isFile() || stats.isDirectory()) return
  throw new MusterError({
    what: 'this is not a regular file',
    where: file,
    next: 'name a file, such as duckdb:data/acme.duckdb',
  })
}

/**
 * Throws MusterError if a database or its log is not a regular file: opening a FIFO would block for ever. DuckDB looks for
 * the log of `a?b` at `a.wal?b`.
 */
export function requireOrdinary(file: string): void {
  if (file.includes('?'))
    throw new ConfigError({
      what: 'DuckDB cannot keep the log of a file with a ? in its path',
      where: file,
      next: 'rename the file, or the folder that it is in',
    })
  for (const one of [file, `${file}.wal`]) requireOne(one)
}

/** The log of a file with two names is beside the name that wrote it; reading by the other name would show an old state. */
export function requireOneName(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found?.isFile() || found.nlink === 1) return
  throw new MusterError({
    what: `the warehouse file has ${found.nlink} names (hard links), and its log would be beside one of them only`,
    where: file,
    next: 'remove the other names, or make copies of them; muster publish makes a copy for readers',
  })
}

/** Whether the log has rows that are not in the file yet. */
export const hasLog = (file: string): boolean => existsSync(`${file}.wal`)

export function removeDatabase(file: string): void {
  for (const path of [file, `${file}.wal`]) rmSync(path, { force: true })
}

/**
 * Renames the closed draft over the file in one step, so that a reader opens the old database or the new one, and readers of
 * the old file can finish. Removes the log of the old file first: a process that opens the new file may start a log there.
 */
export function replaceDatabase(draft: string, file: string, mode = 0o600): void {
  chmodSync(draft, mode)
  syncToDisk(draft)
  for (const log of [`${draft}.wal`, `${file}.wal`]) rmSync(log, { force: true })
  renameSync(draft, file)
  syncToDisk(dirname(file))
}

/** Changes whenever a process writes or replaces the file, even one that ignores its lock. */
export function stampOf(file: string): string {
  const of = (path: string): string => {
    const found = statSync(path, { throwIfNoEntry: false, bigint: true })
    return found ? [found.dev, found.ino, found.size, found.mtimeNs].join() : 'none'
  }
  return [of(file), of(`${file}.wal`)].join(' ')
}
