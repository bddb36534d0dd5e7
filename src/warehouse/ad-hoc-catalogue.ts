/** Builds catalogue statements for ad hoc query sessions on each engine: tables, row counts and columns. */
import { quoteName, quoteText } from './sql-text.ts'

export interface TableRow {
  readonly schema_name: string
  readonly table_name: string
  readonly kind: 'table' | 'view'
  readonly comment: string | null
  /** Approximate number of rows, if the engine knows it without counting. */
  readonly n?: number | null
}

/** SQL statements; schema names are those that queries use. */
export interface CatalogueStatements {
  /** The SQL dialect of queries. */
  readonly dialect: string
  /** Selects TableRow. */
  readonly tables: string
  /** Selects name (schema.table) and n; undefined if `tables` has the counts. */
  counts?(rows: readonly TableRow[]): string
  /** Selects column_name, data_type and comment. */
  columns(schema: string, table: string): string
}

/** DuckDB knows the row count of a table; counting a view would compute it. */
function counts(rows: readonly TableRow[]): string {
  const each = rows
    .filter(({ kind }) => kind === 'table')
    .map(({ schema_name: schema, table_name: name }) => {
      const label = quoteText(`${schema}.${name}`)
      return `select ${label} as name, count(*) as n from ${quoteName(schema)}.${quoteName(name)}`
    })
  return each.length > 0 ? each.join(' union all ') : `select '' as name, 0 as n where false`
}

export const duckdbCatalogue: CatalogueStatements = {
  dialect: 'DuckDB',
  tables: `select * from (
    select schema_name, table_name, 'table' as kind, comment from duckdb_tables() where not internal
    union all
    select schema_name, view_name, 'view', comment from duckdb_views()
    where not internal and schema_name in ('star', 'mart', 'ops')
  ) order by schema_name, table_name`,
  counts,
  columns: (schema, table) => `select column_name, data_type, comment from duckdb_columns()
    where not internal and schema_name = ${quoteText(schema)} and table_name = ${quoteText(table)}
    order by column_index`,
}

/** Counting would scan the table, so row counts come from the last ANALYZE. */
export function postgresCatalogue(prefix: string): CatalogueStatements {
  const name = `substr(n.nspname, ${prefix.length + 1})`
  const visible = `pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v') and n.nspname in (${quoteText(`${prefix}star`)}, ${quoteText(`${prefix}mart`)})
      and pg_catalog.has_schema_privilege(n.oid, 'usage') and pg_catalog.has_table_privilege(c.oid, 'select')`
  return {
    dialect: 'PostgreSQL',
    tables: `select ${name} as schema_name, c.relname as table_name,
      case c.relkind when 'v' then 'view' else 'table' end as kind,
      pg_catalog.obj_description(c.oid, 'pg_class') as comment,
      case when c.relkind <> 'v' and c.reltuples >= 0 then cast(c.reltuples as bigint) end as n
      from ${visible} order by 1, 2`,
    columns: (schema, table) => `select a.attname as column_name,
      pg_catalog.format_type(a.atttypid, a.atttypmod) as data_type,
      pg_catalog.col_description(c.oid, a.attnum) as comment
      from pg_catalog.pg_attribute a, ${visible}
      and a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      and ${name} = ${quoteText(schema)} and c.relname = ${quoteText(table)} order by a.attnum`,
  }
}

/** PostgreSQL statement that selects the schemas with personal data that the user, or any role it may become, can use. */
export function personalSchemas(prefix: string): string {
  const names = ['pii', 'history', 'ops'].map(name => quoteText(prefix + name)).join(', ')
  return `select n.nspname as name from pg_catalog.pg_namespace n where n.nspname in (${names}) and exists (
    select 1 from pg_catalog.pg_roles r where pg_catalog.pg_has_role(session_user, r.oid, 'member')
      and pg_catalog.has_schema_privilege(r.oid, n.oid, 'usage')) order by n.nspname`
}
