/** Where a connection keeps events that arrive: beside its DuckDB file, or in its database. */
import type { Connection } from '../../config/connection.ts'
import { type InboxStore, logStore, tableStore } from '../../events/store.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openPostgres } from '../../warehouse/postgres/open.ts'
import { duckdbFile, postgresPlace } from './warehouse.ts'

/** A server gets a session of its own beside that of `warehouse`, so that no event waits for a merge. */
export async function openInboxStore(connection: Connection, warehouse: Engine): Promise<InboxStore> {
  const place = postgresPlace(connection)
  if (place)
    return tableStore(await openPostgres(place.address, { ...place.options, stage: warehouse.stage }))
  return logStore(`${(duckdbFile(connection) ?? '').replace(/\.duckdb$/, '')}.inbox`)
}
