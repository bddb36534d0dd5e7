/** The disks that a connection writes to: with less than its reserve free, nothing that writes much begins. */
import { dirname } from 'node:path'
import type { StoredConnection } from '../../config/connection.ts'
import { freeBytes, inMegabytes, requireFree } from '../../temporary/free-space.ts'

export const reserveOf = ({ reserveMegabytes }: StoredConnection): number => reserveMegabytes * 1_048_576

/** The disk of a server is its own: only rows on their way there and landed pages are here. */
const foldersOf = ({ warehouse, landing }: StoredConnection): string[] =>
  warehouse.kind === 'file' ? [dirname(warehouse.file), landing] : [landing]

/** Throws DiskFull. `others` are folders that are written as well. */
export function requireRoom(connection: StoredConnection, ...others: readonly string[]): void {
  for (const folder of [...foldersOf(connection), ...others]) requireFree(folder, reserveOf(connection))
}

/** After a run that has taken what was left above the reserve; undefined when there is room for another. */
export function roomWarning(connection: StoredConnection): string | undefined {
  const short = foldersOf(connection).find(folder => freeBytes(folder) < reserveOf(connection))
  if (short === undefined) return undefined
  return `warning: only ${inMegabytes(freeBytes(short))} are free in ${short}, less than reserveMegabytes keeps: everything is stored, and the next run will not begin before there is room`
}
