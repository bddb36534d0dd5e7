/** Which tables are exported, with their columns in words that DuckDB reads from either engine. */
import type { Engine, TypedColumn } from '../../warehouse/engine.ts'
import type { SchemaName } from '../../warehouse/schema/schemas.ts'

export interface ExportedTable {
  readonly schema: SchemaName
  readonly name: string
  readonly description: string
  readonly columns: readonly (TypedColumn & { readonly description: string })[]
  /** Column by whose months a large table is cut: the first day in a fact or mart; dimensions have none. */
  readonly day?: string
}

interface ColumnRow {
  readonly schema: SchemaName
  readonly name: string
  readonly table_comment: string | null
  readonly column: string
  readonly type: string
  readonly comment: string | null
}

/** Tables only: a view shows what is exported already. `$1` is a list of schemas. */
const questions: Readonly<Record<Engine['name'], string>> = {
  duckdb: `
    select c.schema_name as schema, c.table_name as name, t.comment as table_comment, c.column_name as column,
      c.data_type as type, c.comment as comment
    from duckdb_columns() as c
    join duckdb_tables() as t on t.table_oid = c.table_oid and t.database_oid = c.database_oid
    where c.database_name = current_database() and list_contains(string_split($1, ','), c.schema_name)
    order by c.schema_name, c.table_name, c.column_index`,
  postgres: `
    select n.nspname::text as schema, c.relname::text as name, obj_description(c.oid, 'pg_class') as table_comment,
      a.attname::text as column, format_type(a.atttypid, a.atttypmod) as type, col_description(c.oid, a.attnum) as comment
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relkind = 'r' and n.nspname = any(string_to_array($1, ',')) and has_table_privilege(c.oid, 'select')
    order by n.nspname, c.relname, a.attnum`,
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
  const rows = await engine.rows<ColumnRow>(questions[engine.name], [[...plain.keys()].join(',')])
  const tables = new Map<string, ExportedTable & { columns: (TypedColumn & { description: string })[] }>()
  for (const { schema, name, table_comment, column, type, comment } of rows) {
    const key = `${schema}.${name}`
    const table = tables.get(key) ?? {
      schema: plain.get(schema) ?? schema,
      name,
      description: table_comment ?? '',
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
