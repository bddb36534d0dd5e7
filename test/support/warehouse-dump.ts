/** What a warehouse holds, as comparable rows. */
import { catalogue } from '../../src/contract/catalogue.ts'
import { tablesOf } from '../../src/contract/fields/table.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { physicalTables } from '../../src/warehouse/schema/physical.ts'

/** When and by whom a row was read, which differs from run to run. */
export const ofTheRun = new Set(['loaded_at', 'first_loaded_at', 'run_id'])

/** Columns that move with the clock of the service, such as the requests of the day. */
export const volatileColumns = new Set(
  catalogue.flatMap(resource =>
    tablesOf(resource.table).flatMap(table =>
      Object.entries(table.columns)
        .filter(([, column]) => column.volatile)
        .map(([name]) => `${table.name}.${name}`),
    ),
  ),
)

type Row = Readonly<Record<string, unknown>>

/** A version without a time of its own is valid from when it was read. */
function apart({ valid_from, ...row }: Row): Row {
  return row.source_updated_at == null ? row : { ...row, valid_from }
}

export type Dump = Readonly<Record<string, readonly string[]>>

/** Every table of star, pii and history that holds rows: its rows as JSON, sorted. */
export async function tables(
  engine: Engine,
  only?: readonly string[],
  without: ReadonlySet<string> = ofTheRun,
): Promise<Dump> {
  const dump: Record<string, string[]> = {}
  for (const { schema, name, columns } of physicalTables) {
    if (only && !only.includes(`${schema}.${name}`)) continue
    const kept = columns
      .map(column => column.name)
      .filter(column => !without.has(column) && !volatileColumns.has(`${name}.${column}`))
    const list = kept.map(column => `"${column}"`).join(', ')
    const rows = await engine.rows<Row>(`select ${list} from ${schema}."${name}"`)
    if (rows.length > 0)
      dump[`${schema}.${name}`] = rows
        .map(row => JSON.stringify(without === ofTheRun ? apart(row) : row))
        .sort()
  }
  return dump
}
