/** Reads DuckDB's catalogue: comments and columns of the warehouse, and definitions of tables and views of any database. */
import type { DescribedColumn, Engine } from '../engine.ts'
import type { DuckdbStatements } from './statements.ts'

const comments = `select schema_name || '.' || table_name as place, comment from duckdb_tables()
    where comment is not null and database_name = current_database()
  union all select schema_name || '.' || view_name, comment from duckdb_views()
    where comment is not null and database_name = current_database()
  union all select schema_name || '.' || table_name || '.' || column_name, comment from duckdb_columns()
    where comment is not null and database_name = current_database()`

const describedColumns = `
  select c.schema_name as schema, c.table_name as "table", t.comment as "tableComment", c.column_name as "column",
    c.data_type as type, c.comment as comment
  from duckdb_columns() as c
  join duckdb_tables() as t on t.table_oid = c.table_oid and t.database_oid = c.database_oid
  where c.database_name = current_database() and list_contains(string_split($1, ','), c.schema_name)
  order by c.schema_name, c.table_name, c.column_index`

type DuckdbCatalogue = Pick<Engine, 'comments' | 'describedColumns' | 'requireReader' | 'requireOwner'>

export const catalogueOf = ({ rows }: DuckdbStatements): DuckdbCatalogue => ({
  async comments() {
    const said = await rows<{ place: string; comment: string }>(comments)
    return new Map(said.map(({ place, comment }) => [place, comment]))
  },
  describedColumns: schemas => rows<DescribedColumn>(describedColumns, [schemas.join(',')]),
  // The only rights are those on the file, and it is open.
  async requireReader() {},
  async requireOwner() {},
})

interface RelationColumn {
  readonly name: string
  readonly type: string
  readonly comment: string | null
  /** Part of the primary key. */
  readonly isKey: boolean
}

export interface RelationDefinition {
  readonly schema: string
  readonly name: string
  readonly kind: 'table' | 'view'
  readonly comment: string | null
  /** The statement that creates it. */
  readonly sql: string
  readonly columns: readonly RelationColumn[]
}

type LocatedColumn = RelationColumn & { readonly at: string }

/**
 * Definitions in the open or an attached database, for creating the same objects elsewhere or describing them: tables, then
 * views, each in order of creation.
 */
export async function definitionsIn(
  engine: Engine,
  database: string | null = null,
): Promise<RelationDefinition[]> {
  const ours = 'not internal and database_name = coalesce($1, current_database())'
  const found = await engine.rows<Omit<RelationDefinition, 'columns'>>(
    `select schema_name as schema, table_name as name, 'table' as kind, comment, sql, table_oid as place
     from duckdb_tables() where ${ours}
     union all select schema_name, view_name, 'view', comment, sql, view_oid from duckdb_views() where ${ours}
     order by kind, place`,
    [database],
  )
  const columns = await engine.rows<LocatedColumn>(
    `with keys as (
       select schema_name, table_name, unnest(constraint_column_names) as column_name
       from duckdb_constraints() where constraint_type = 'PRIMARY KEY' and database_name = coalesce($1, current_database())
     )
     select schema_name || '.' || table_name as at, column_name as name, data_type as type, comment,
       (schema_name, table_name, column_name) in (select (schema_name, table_name, column_name) from keys) as "isKey"
     from duckdb_columns() where ${ours} order by column_index`,
    [database],
  )
  const byTable = new Map<string, RelationColumn[]>()
  for (const { at, ...column } of columns) byTable.set(at, [...(byTable.get(at) ?? []), column])
  return found.map(one => ({ ...one, columns: byTable.get(`${one.schema}.${one.name}`) ?? [] }))
}
