/** Where the events of a connection are kept until they are loaded. */
import type { StoredConnection } from '../../config/connection.ts'
import { type InboxStore, logStore, tableStore } from '../../events/store.ts'
import type { StoredEvents } from '../../state/inbox/figures.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openPostgres } from '../../warehouse/on-demand.ts'
import { duckdbFile, postgresPlace } from './warehouse.ts'

/** The folder of the log of events beside a DuckDB file. */
export const inboxFolder = (file: string): string => `${file.replace(/\.duckdb$/, '')}.inbox`

/**
 * Where events that arrive are kept: beside the DuckDB file, or in the database. On a server the inbox has a session of
 * its own beside that of `warehouse`, so that no event waits for a merge.
 */
export async function openInboxStore(connection: StoredConnection, warehouse: Engine): Promise<InboxStore> {
  const place = postgresPlace(connection)
  if (place)
    return tableStore(await openPostgres(place.address, { ...place.options, stage: warehouse.stage }))
  return logStore(inboxFolder(duckdbFile(connection) ?? ''))
}

/** The most events, and the most bytes of them, that the settings allow. */
export const inboxBounds = ({
  inboxEvents: events,
  inboxMegabytes,
}: Pick<StoredConnection, 'inboxEvents' | 'inboxMegabytes'>): StoredEvents => ({
  events,
  bytes: inboxMegabytes * 1e6,
})
