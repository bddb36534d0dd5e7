/** Files of DuckDB databases: where the published copy is, and how a new file takes the place of an old one. */
import { chmodSync, existsSync, lstatSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError, MusterError } from '../../lib/errors.ts'
import { syncToDisk } from '../../temporary/output-file.ts'

/** `acme.duckdb` is published as `acme.published.duckdb` beside it. */
export const publishedFile = (file: string): string => `${file.replace(/\.duckdb$/, '')}.published.duckdb`

/** What is published of one company, in a file of its own. */
export const companyFile = (file: string, id: string): string =>
  publishedFile(`${file.replace(/\.duckdb$/, '')}.${id}.duckdb`)

export const isPublishedFile = (file: string): boolean => file.endsWith('.published.duckdb')

/** The file behind a link: its log and its drafts have to be beside it, and a rename would replace only the link. */
export function realFile(file: string): string {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return file
  if (existsSync(file)) return realpathSync(file)
  throw new MusterError({
    what: 'the warehouse file is a link to a file that is not there',
    where: file,
    next: 'correct the link, or name the file itself',
  })
}

function requireOne(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false })
  // What a folder is here, DuckDB's own message tells.
  if (!stats || stats.isFile() || stats.isDirectory()) return
  throw new MusterError({
    what: 'this is no regular file',
    where: file,
    next: 'name a file, such as duckdb:data/acme.duckdb',
  })
}

/**
 * Throws MusterError for a database or a log of it that is no regular file: to open a FIFO would wait for ever. DuckDB looks
 * for the log of `a?b` at `a.wal?b`.
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

/** The log of a file with two names would be beside the one that wrote it, and the other would read an old state. */
export function requireOneName(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found?.isFile() || found.nlink === 1) return
  throw new MusterError({
    what: `the warehouse file has ${found.nlink} names (hard links), and its log would be beside one of them only`,
    where: file,
    next: 'remove the other names, or make copies of them; muster publish makes a copy for readers',
  })
}

/** Whether rows are in the log that are not in the file. */
export const hasLog = (file: string): boolean => existsSync(`${file}.wal`)

export function removeDatabase(file: string): void {
  for (const path of [file, `${file}.wal`]) rmSync(path, { force: true })
}

/**
 * One rename, so that a reader opens the old database or the new one, and one that has the old file open goes on reading
 * it. The draft is closed. A log of the old file goes first: whoever opens the new one may begin a log of that name.
 */
export function replaceDatabase(draft: string, file: string, mode = 0o600): void {
  chmodSync(draft, mode)
  syncToDisk(draft)
  for (const log of [`${draft}.wal`, `${file}.wal`]) rmSync(log, { force: true })
  renameSync(draft, file)
  syncToDisk(dirname(file))
}

/** What changes when somebody writes the file or puts another in its place, whether or not he heeds its lock. */
export function stampOf(file: string): string {
  const of = (path: string): string => {
    const found = statSync(path, { throwIfNoEntry: false, bigint: true })
    return found ? [found.dev, found.ino, found.size, found.mtimeNs].join() : 'none'
  }
  return [of(file), of(`${file}.wal`)].join(' ')
}
