/** How PostgreSQL differs from DuckDB. */
import type { Traits } from '../engine.ts'

export const postgresTraits: Traits = {
  kind: 'postgres',
  product: 'PostgreSQL',
  isShared: true,
  keepsKeys: true,
  reconnects: true,
  instant: 'clock_timestamp()',
  skipLocked: 'for update skip locked',
  /**
   * Texts compare byte by byte, as in DuckDB: both engines agree on the greater of two words, whatever the locale of the
   * database, and no index breaks when the operating system changes its collation.
   */
  columnType: sql => (sql === 'text' ? 'text collate "C"' : sql),
}
