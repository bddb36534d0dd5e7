/** Finds the tables to export, with column types that DuckDB reads from either engine. */
import type { Engine, TypedColumn } from '../../warehouse/engine.ts'
import type { SchemaName } from '../../warehouse/schema/schemas.ts'

export interface ExportedTable {
  readonly schema: SchemaName
  readonly name: string
  readonly description: string
  readonly columns: readonly (TypedColumn & { readonly description: string })[]
  /** Column whose months partition a large table: the first date of a fact or mart; dimensions have none. */
  readonly day?: string
}

function dayOf({ schema, name, columns }: ExportedTable): string | undefined {
  if (schema !== 'mart' && !(schema === 'star' && name.startsWith('fact_'))) return undefined
  return columns.find(({ sql }) => sql.toLowerCase() === 'date')?.name
}

/** In the order of their names. */
export async function exportedTables(
  engine: Engine,
  schemas: readonly SchemaName[],
): Promise<ExportedTable[]> {
  const plain = new Map(schemas.map(schema => [engine.schema(schema), schema]))
  // Tables only: views show rows that are exported already.
  const rows = await engine.describedColumns([...plain.keys()])
  const tables = new Map<string, ExportedTable & { columns: (TypedColumn & { description: string })[] }>()
  for (const { schema: stored, table: name, tableComment, column, type, comment } of rows) {
    const schema = plain.get(stored)
    if (!schema) continue
    const key = `${schema}.${name}`
    const table = tables.get(key) ?? {
      schema,
      name,
      description: tableComment ?? '',
      columns: [],
    }
    table.columns.push({ name: column, sql: type, description: comment ?? '' })
    tables.set(key, table)
  }
  return [...tables.values()].map(table => {
    const day = dayOf(table)
    return day === undefined ? table : { ...table, day }
  })
}
