/** Lists the paths that outputs must not overwrite (warehouses, landed pages, settings), and checks the disk reserve. */
import { dirname } from 'node:path'
import { inboxFolder, reserveOf, stemOf } from '../app/connection/storage.ts'
import { lakeFolders } from '../app/lake.ts'
import type { StoredConnection } from '../config/connection.ts'
import type { StoredSettings } from '../config/settings.ts'
import { ConfigError } from '../lib/errors.ts'
import { outputsFile } from '../publish/outputs.ts'
import { requireFree } from '../temporary/free-space.ts'
import type { GuardedPath } from '../temporary/output-file.ts'
import { publishedFile } from '../warehouse/duckdb/database-file.ts'
import type { CommandContext } from './context.ts'

function ofConnection(connection: StoredConnection): GuardedPath[] {
  const { warehouse, landing } = connection
  const pages = { path: landing, what: 'the folder of landed pages' }
  const list = {
    path: outputsFile(stemOf(connection)),
    what: 'the list of files written from the warehouse',
  }
  const lakes = lakeFolders(connection).map(path => ({ path, what: 'a lake' }))
  if (warehouse.kind !== 'file') return [pages, list, ...lakes]
  const { file } = warehouse
  return [
    pages,
    list,
    ...lakes,
    { path: file, what: 'the warehouse' },
    { path: `${file}.wal`, what: 'the log of the warehouse' },
    { path: publishedFile(file), what: 'the published copy' },
    { path: `${publishedFile(file)}.wal`, what: 'the log of the published copy' },
    { path: inboxFolder(file), what: 'the inbox' },
  ]
}

/** Undefined if no settings can be read. */
export function readableSettings(context: CommandContext): StoredSettings | undefined {
  if (!context.hasSettings()) return undefined
  try {
    return context.storedSettings()
  } catch (error) {
    // For example, the key is not set on a machine that only renders pages.
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

/** Paths that no output may replace or be put into; without readable settings, the warehouses are missing. */
export function guardedBy(context: CommandContext): readonly GuardedPath[] {
  const { settings, named } = context.filesOfSettings()
  const connections = readableSettings(context)?.connections.values() ?? []
  return [
    ...[...connections].flatMap(ofConnection),
    ...settings.map(path => ({ path, what: 'the settings file' })),
    ...named.map(({ path }) => ({ path, what: 'a file that the settings name' })),
  ]
}

const defaultReserveBytes = 256 * 1_048_576

/** The largest reserve of all connections: the file belongs to none in particular. */
function reserveIn(context: CommandContext): number {
  const connections = [...(readableSettings(context)?.connections.values() ?? [])]
  return connections.length === 0 ? defaultReserveBytes : Math.max(...connections.map(reserveOf))
}

/**
 * Throws DiskFull if a file of this size would use up the reserve. For commands that work without settings: without them, the
 * default reserve applies.
 */
export function requireRoomFor(context: CommandContext, file: string, bytes = 0): void {
  requireFree(dirname(file), reserveIn(context) + bytes)
}
