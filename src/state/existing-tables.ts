/** Lists the ops tables that a warehouse has: the published copy leaves out those that could hold personal data. */
import { tablesIn } from '../warehouse/catalogue.ts'
import type { Engine } from '../warehouse/engine.ts'
import type { LedgerName } from './tables.ts'

/** Cached: DuckDB takes 20 ms to list tables, as it generates the SQL of each, and a sync would ask seven times. */
const known = new WeakMap<object, ReadonlySet<LedgerName>>()

/** Names without the schema; empty for a file that no sync has touched. */
export async function existingTables(
  engine: Pick<Engine, 'rows' | 'schema' | 'cacheKey'>,
): Promise<ReadonlySet<LedgerName>> {
  const cached = known.get(engine.cacheKey)
  if (cached) return cached
  const tables = await tablesIn(engine, ['ops'])
  const names = new Set(tables.map(({ name }) => name as LedgerName))
  // Without a structure, do not cache: another process may be creating it.
  if (names.has('migration')) known.set(engine.cacheKey, names)
  return names
}

/** Call when the structure changes. */
export function forgetTables(engine: Engine): void {
  known.delete(engine.cacheKey)
}
