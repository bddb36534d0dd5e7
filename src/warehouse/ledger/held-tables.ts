/** Which tables of ops a file holds: the published copy leaves out those that could hold personal data. */
import type { Engine } from '../engine.ts'

/** Names without the schema; empty for a file that no sync has touched. */
export async function heldTables(engine: Engine): Promise<ReadonlySet<string>> {
  const rows = await engine.rows<{ name: string }>(
    `select table_name as name from information_schema.tables where table_catalog = current_database() and table_schema = $1`,
    [engine.schema('ops')],
  )
  return new Set(rows.map(row => row.name))
}
