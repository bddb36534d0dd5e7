/** Files of DuckDB databases: where the published copy is, and how a new file takes the place of an old one. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { MusterError } from '../../lib/errors.ts'

/** `acme.duckdb` is published as `acme.published.duckdb` beside it. */
export const publishedFile = (file: string): string => `${file.replace(/\.duckdb$/, '')}.published.duckdb`

export const isPublishedFile = (file: string): boolean => file.endsWith('.published.duckdb')

/** Throws MusterError for what exists and is no regular file: to open a FIFO would wait for ever. */
export function requireOrdinary(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false })
  // What a folder is here, DuckDB's own message tells.
  if (!stats || stats.isFile() || stats.isDirectory()) return
  throw new MusterError({
    what: 'this is no regular file',
    where: file,
    next: 'name a file, such as duckdb:data/acme.duckdb',
  })
}

export function removeDatabase(file: string): void {
  for (const path of [file, `${file}.wal`]) rmSync(path, { force: true })
}

function syncToDisk(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * One rename, so that a reader opens the old database or the new one, and one that has the old file open goes on reading
 * it. Both must be closed here.
 */
export function replaceDatabase(draft: string, file: string): void {
  syncToDisk(draft)
  renameSync(draft, file)
  for (const rest of [`${draft}.wal`, `${file}.wal`]) rmSync(rest, { force: true })
  syncToDisk(dirname(file))
}
