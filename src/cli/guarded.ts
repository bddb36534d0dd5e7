/** What no output of a command may replace or be put into: the warehouses of the settings, their pages, the settings. */
import { inboxFolder } from '../app/connection/inbox.ts'
import { stemOf } from '../app/connection/outputs-list.ts'
import type { StoredConnection } from '../config/connection.ts'
import type { StoredSettings } from '../config/settings.ts'
import { ConfigError } from '../lib/errors.ts'
import { outputsFile } from '../publish/outputs.ts'
import type { Guarded } from '../temporary/output-file.ts'
import { publishedFile } from '../warehouse/duckdb/database-file.ts'
import type { CommandContext } from './context.ts'

function ofConnection(connection: StoredConnection): Guarded[] {
  const { warehouse, landing } = connection
  const pages = { path: landing, what: 'the folder of landed pages' }
  const list = {
    path: outputsFile(stemOf(connection)),
    what: 'the list of what was written from the warehouse',
  }
  if (warehouse.kind !== 'file') return [pages, list]
  const { file } = warehouse
  return [
    pages,
    list,
    { path: file, what: 'the warehouse' },
    { path: `${file}.wal`, what: 'the log of the warehouse' },
    { path: publishedFile(file), what: 'the published copy' },
    { path: `${publishedFile(file)}.wal`, what: 'the log of the published copy' },
    { path: inboxFolder(file), what: 'the inbox' },
  ]
}

/** Undefined where there are none that can be read. */
export function readableSettings(context: CommandContext): StoredSettings | undefined {
  if (!context.hasSettings()) return undefined
  try {
    return context.storedSettings()
  } catch (error) {
    // Such as a key that is not set where only pages are made.
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

/** Settings that cannot be read name no warehouse: a command that needs none works all the same. */
export function guardedBy(context: CommandContext): readonly Guarded[] {
  const { settings, named } = context.filesOfSettings()
  const connections = readableSettings(context)?.connections.values() ?? []
  return [
    ...[...connections].flatMap(ofConnection),
    ...settings.map(path => ({ path, what: 'the settings file' })),
    ...named.map(({ path }) => ({ path, what: 'a file that the settings name' })),
  ]
}
