/** Reads how many rows each table of a warehouse has, and the time up to which they are current. */
import { existingTables } from '../state/existing-tables.ts'
import { lastDoneSync } from '../state/runs/resource-state.ts'
import { tablesIn } from '../warehouse/catalogue.ts'
import type { Engine } from '../warehouse/engine.ts'
import { schemaNames } from '../warehouse/schema/schemas.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { type Dictionary, qualifiedName, type TableEntry } from './entries.ts'

export interface StoredRows {
  readonly engine: Engine['product']
  /** ISO 8601: end of the last successful sync; null before the first. */
  readonly asOf: string | null
  /** Rows by qualified name; a missing table has no entry. */
  readonly rows: ReadonlyMap<string, number>
  /** `as_of` of each mart. */
  readonly martAsOf: ReadonlyMap<string, string>
}

/** Max tables in one statement: PostgreSQL plans each of them. */
const many = 40

const tableName = ({ schema, name }: TableEntry): string => `${schema}.${quoteName(name)}`

async function countRows(engine: Engine, tables: readonly TableEntry[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (let from = 0; from < tables.length; from += many) {
    const selects = tables
      .slice(from, from + many)
      .map(
        table => `select ${quoteText(qualifiedName(table))} as name, count(*) as n from ${tableName(table)}`,
      )
    const rows = await engine.rows<{ name: string; n: number | string }>(selects.join(' union all '))
    for (const { name, n } of rows) counts.set(name, Number(n))
  }
  return counts
}

export async function readStored(engine: Engine, { tables }: Dictionary): Promise<StoredRows> {
  const existing = new Set(
    (await tablesIn(engine, schemaNames)).filter(one => !one.isView).map(qualifiedName),
  )
  const present = tables.filter(table => table.kind === 'table' && existing.has(qualifiedName(table)))
  const martAsOf = new Map<string, string>()
  for (const mart of present.filter(({ schema }) => schema === 'mart')) {
    const [row] = await engine.rows<{ as_of: string | null }>(
      `select max(as_of) as as_of from ${tableName(mart)}`,
    )
    if (row?.as_of) martAsOf.set(qualifiedName(mart), row.as_of)
  }
  const isSynced = (await existingTables(engine)).has('run')
  return {
    engine: engine.product,
    asOf: isSynced ? await lastDoneSync(engine) : null,
    rows: await countRows(engine, present),
    martAsOf,
  }
}
