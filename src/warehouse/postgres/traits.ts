/** What PostgreSQL does that DuckDB does otherwise. */
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
   * Texts compare byte by byte, as DuckDB's do: the greatest of two words is the same on both, whatever the locale of the
   * database, and no index breaks when the operating system learns a new order.
   */
  columnType: sql => (sql === 'text' ? 'text collate "C"' : sql),
}
