/** Which tables of ops a warehouse has: the published copy leaves out those that could hold personal data. */
import type { Engine } from '../warehouse/engine.ts'
import type { LedgerName } from './tables.ts'

/** DuckDB writes the SQL of every table to list their names: 20 ms, and a sync would ask seven times. */
const known = new WeakMap<object, ReadonlySet<LedgerName>>()

/** Names without the schema; empty for a file that no sync has touched. */
export async function existingTables(
  engine: Pick<Engine, 'rows' | 'schema' | 'cacheKey'>,
): Promise<ReadonlySet<LedgerName>> {
  const cached = known.get(engine.cacheKey)
  if (cached) return cached
  const rows = await engine.rows<{ name: LedgerName }>(
    `select table_name as name from information_schema.tables where table_catalog = current_database() and table_schema = $1`,
    [engine.schema('ops')],
  )
  const names = new Set(rows.map(row => row.name))
  // Before there is a structure, another process may be making one.
  if (names.has('migration')) known.set(engine.cacheKey, names)
  return names
}

/** To be called when the structure changes. */
export function forgetTables(engine: Engine): void {
  known.delete(engine.cacheKey)
}
