/** Comments of tables and columns in the database: only those that differ are written, as thousands cost most of a second. */
import type { Engine } from '../engine.ts'
import { quoteName, quoteText } from '../sql-text.ts'
import type { SchemaName } from './schemas.ts'
import { qualified } from './structure.ts'

export interface Commented {
  readonly schema: SchemaName
  readonly name: string
  readonly description: string
  readonly columns: readonly { readonly name: string; readonly description: string }[]
}

/** Tables as `schema.table`, columns as `schema.table.column`. */
const heldIn: Readonly<Record<Engine['name'], string>> = {
  duckdb: `select schema_name || '.' || table_name as place, comment as said from duckdb_tables()
      where comment is not null and database_name = current_database()
    union all select schema_name || '.' || table_name || '.' || column_name, comment from duckdb_columns()
      where comment is not null and database_name = current_database()`,
  postgres: `select concat_ws('.', n.nspname, c.relname, a.attname) as place, d.description as said
    from pg_catalog.pg_description d
    join pg_catalog.pg_class c on c.oid = d.objoid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    left join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = d.objsubid and d.objsubid > 0
    where d.classoid = 'pg_catalog.pg_class'::regclass`,
}

/** Statements for the comments that are missing or differ. */
export async function missingComments(engine: Engine, tables: readonly Commented[]): Promise<string[]> {
  const rows = await engine.rows<{ place: string; said: string }>(heldIn[engine.name])
  const held = new Map(rows.map(({ place, said }) => [place, said]))
  return tables.flatMap(table => {
    const place = `${engine.schema(table.schema)}.${table.name}`
    const own = { place, on: `table ${qualified(table)}`, said: table.description }
    const columns = table.columns.map(({ name, description }) => ({
      place: `${place}.${name}`,
      on: `column ${qualified(table)}.${quoteName(name)}`,
      said: description,
    }))
    return [own, ...columns]
      .filter(one => held.get(one.place) !== one.said)
      .map(({ on, said }) => `comment on ${on} is ${quoteText(said)}`)
  })
}
