/** Connections on which batches of pages are staged while others are merged. */
import { logBytes, type Opened, setUp } from './connect.ts'
import { ConnectionPool } from './connection-pool.ts'
import { type Place, slowCompressions } from './into-file.ts'
import { attachStageFile } from './stage-database.ts'
import { Connection, type SharedByConnections } from './statements.ts'

/**
 * One batch is staged while the one before it is merged, each on a thread of its own: two cores are busy, and DuckDB's
 * memory suffices for both. With more threads a connection it does not.
 */
const pooledConnections = 2

/** The limit of the log applies to all attached databases: while it is raised, only `checkpoint` writes the log of the warehouse. */
const beforeLoading = `set threads = 1; set disabled_compression_methods = '${slowCompressions}';
  set wal_autocheckpoint = '1TB'`
const afterLoading = (threads: number): string =>
  `set threads = ${threads}; reset disabled_compression_methods; set wal_autocheckpoint = '${logBytes}B'`

export function poolOf(
  { file, home, zone }: Place,
  opened: Opened,
  shared: SharedByConnections,
): ConnectionPool<Connection> {
  let count = 0
  return new ConnectionPool({
    most: pooledConnections,
    async open() {
      count += 1
      const stage = `stage_${count}`
      const duckdb = await opened.instance.connect()
      await attachStageFile(duckdb, stage, opened.temporary.path)
      await setUp(duckdb, { home, stage, zone })
      return new Connection(file, duckdb, shared)
    },
    async setBusy(connection, isBusy) {
      await connection.set(isBusy ? beforeLoading : afterLoading(opened.threads))
    },
  })
}
