/** How DuckDB differs from PostgreSQL. */
import type { Traits } from '../engine.ts'

export const duckdbTraits: Traits = {
  kind: 'duckdb',
  product: 'DuckDB',
  isShared: false,
  // Keys cost several times the load.
  keepsKeys: false,
  reconnects: false,
  // Only one process writes, and its transactions are short: the time at which they began will do.
  instant: 'now()',
  skipLocked: '',
  columnType: sql => sql,
}
