/** Copies a database file into a warehouse that has nothing yet: a ninth of what its statements would cost one by one. */
import type { Engine } from '../engine.ts'
import { quoteText } from '../sql-text.ts'

/** Schemas that somebody made; a table in the schema that every file has counts as well. */
const isEmpty = `select not exists (select 1 from duckdb_tables() where database_name = current_database())
    and not exists (select 1 from duckdb_views() where database_name = current_database() and not internal)
    and not exists (select 1 from duckdb_schemas() where database_name = current_database() and not internal) as empty`

/** `home` is the database of the warehouse. A kill leaves all of it, or the tables without rows. */
export async function copyWhole(
  engine: Pick<Engine, 'rows' | 'run'>,
  home: string,
  file: string,
): Promise<boolean> {
  const [row] = await engine.rows<{ empty: boolean }>(isEmpty)
  if (!row?.empty) return false
  try {
    await engine.run(`attach ${quoteText(file)} as copied (read_only)`)
  } catch {
    // Damaged, or not for this user to read: it is a shortcut, and the statements make the same.
    return false
  }
  try {
    await engine.run(`copy from database copied to ${home}`)
  } finally {
    await engine.run('detach copied')
  }
  return true
}
