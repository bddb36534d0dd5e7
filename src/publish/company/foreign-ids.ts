/** Looks through every text of a copy for the id of another company: there must be none. */
import { MusterError } from '../../lib/errors.ts'
import { isPublished } from '../../state/tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName } from '../../warehouse/sql-text.ts'

interface TextColumn {
  readonly schema: string
  readonly name: string
  readonly column: string
}

async function textColumns(engine: Engine): Promise<TextColumn[]> {
  const columns = await engine.rows<TextColumn>(
    `select c.schema_name as schema, c.table_name as name, c.column_name as column
     from duckdb_columns() as c inner join duckdb_tables() as t on t.table_oid = c.table_oid and t.database_oid = c.database_oid
     where c.database_name = current_database() and c.data_type = 'VARCHAR' and t.estimated_size > 0`,
  )
  return columns.filter(({ schema, name }) => isPublished(schema, name))
}

/** Throws MusterError that names the column. `others` are ids. */
export async function requireNoOthers(engine: Engine, others: readonly string[]): Promise<void> {
  if (others.length === 0) return
  await engine.run('create or replace temporary table other_company as select unnest($1::varchar[]) as id', [
    JSON.stringify(others),
  ])
  for (const { schema, name, column } of await textColumns(engine)) {
    const place = `${schema}.${name}`
    const [found] = await engine.rows(
      `select 1 from ${quoteName(schema)}.${quoteName(name)} where ${quoteName(column)} in (select id from other_company) limit 1`,
    )
    if (!found) continue
    throw new MusterError({
      what: `the copy would hold the id of another company, in ${place}.${column}`,
      where: engine.location,
      next: 'nothing was published; please report it',
    })
  }
  await engine.run('drop table other_company')
}
