/** What DuckDB does that PostgreSQL does otherwise. */
import type { Traits } from '../engine.ts'

export const duckdbTraits: Traits = {
  kind: 'duckdb',
  product: 'DuckDB',
  isShared: false,
  // Keys cost several times the load.
  keepsKeys: false,
  reconnects: false,
  // One process writes, so its transactions are short enough for the time they began.
  instant: 'now()',
  skipLocked: '',
  columnType: sql => sql,
}
