/** What the published copy says of its own tables, as DuckDB keeps it. */
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'

const tables = `
  select schema_name, table_name, 'table' as kind, comment from duckdb_tables() where not internal
  union all
  select schema_name, view_name, 'view', comment from duckdb_views()
  where not internal and schema_name in ('star', 'mart', 'ops')`

export const tablesSql = `select * from (${tables}) order by schema_name, table_name`

export interface TableRow {
  readonly schema_name: string
  readonly table_name: string
  readonly kind: 'table' | 'view'
  readonly comment: string | null
}

/** DuckDB knows how many rows a table has; a view would have to be computed. */
export function countsSql(rows: readonly TableRow[]): string {
  const counts = rows
    .filter(({ kind }) => kind === 'table')
    .map(({ schema_name: schema, table_name: name }) => {
      const label = quoteText(`${schema}.${name}`)
      return `select ${label} as name, count(*) as n from ${quoteName(schema)}.${quoteName(name)}`
    })
  return counts.length > 0 ? counts.join(' union all ') : `select '' as name, 0 as n where false`
}

export function columnsSql(schema: string, table: string): string {
  return `select column_name, data_type, comment from duckdb_columns()
    where not internal and schema_name = ${quoteText(schema)} and table_name = ${quoteText(table)}
    order by column_index`
}
