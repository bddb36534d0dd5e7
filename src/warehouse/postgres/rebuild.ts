/** A rebuild fills schemas of its own; then, in one transaction, their rows take the place of those in use. */

import { type Missing, missingFrom } from '../../app/rebuild/swap.ts'
import type { Engine } from '../engine.ts'
import { physicalTables } from '../schema/physical.ts'
import { schemaNames } from '../schema/schemas.ts'
import { qualified } from '../schema/structure.ts'
import { quoteName, quoteNames } from '../sql-text.ts'

/** The prefix of the schemas beside those in use. */
export const sidePrefix = (prefix = ''): string => `${prefix}replay_`

/** Made anew by a rebuild; the rest of ops tells what was asked and read, and stays. */
const rebuiltLedger = ['quarantine', 'schema_drift'] as const

/** Removes the schemas beside those in use, with all that is in them. */
export async function dropSide(engine: Engine, side: string): Promise<void> {
  for (const name of schemaNames) await engine.run(`drop schema if exists ${quoteName(side + name)} cascade`)
}

/** Records in use that the rebuild does not hold. */
export const missingFromSide = (engine: Engine, side: string): Promise<Missing[]> =>
  missingFrom(engine, { old: 'star', rebuilt: quoteName(`${side}star`) })

async function columnsOf(engine: Engine, table: string): Promise<string[]> {
  const rows = await engine.rows<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_catalog = current_database() and table_schema = $1 and table_name = $2 order by ordinal_position`,
    [engine.schema('ops'), table],
  )
  return rows.map(({ name }) => name)
}

/**
 * Rows are deleted and inserted rather than tables exchanged: readers wait for nothing, and views, grants, comments and
 * indexes stay. Runs inside a transaction.
 */
export async function replaceRows(engine: Engine, side: string): Promise<void> {
  for (const table of physicalTables) {
    const names = quoteNames(table.columns.map(({ name }) => name))
    const from = `${quoteName(side + table.schema)}.${quoteName(table.name)}`
    await engine.run(`delete from ${qualified(table)}`)
    await engine.run(`insert into ${qualified(table)} (${names}) select ${names} from ${from}`)
  }
  for (const table of rebuiltLedger) {
    const names = quoteNames(await columnsOf(engine, table))
    await engine.run(`delete from ops.${table}`)
    await engine.run(
      `insert into ops.${table} (${names}) select ${names} from ${quoteName(`${side}ops`)}.${table}`,
    )
  }
}
