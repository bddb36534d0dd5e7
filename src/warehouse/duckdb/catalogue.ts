/** DuckDB's catalogue: comments and columns. */
import type { DescribedColumn, Engine } from '../engine.ts'
import type { Statements } from './statements.ts'

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

type Catalogue = Pick<Engine, 'comments' | 'describedColumns' | 'requireReader' | 'requireOwner'>

export const catalogueOf = ({ rows }: Statements): Catalogue => ({
  async comments() {
    const said = await rows<{ place: string; comment: string }>(comments)
    return new Map(said.map(({ place, comment }) => [place, comment]))
  },
  describedColumns: schemas => rows<DescribedColumn>(describedColumns, [schemas.join(',')]),
  // There are no rights besides those on the file, which is open.
  async requireReader() {},
  async requireOwner() {},
})
