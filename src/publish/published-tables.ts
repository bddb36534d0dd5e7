/** The copy of published tables and views from one attached DuckDB database into the default one. */

import { isPublished } from '../state/tables.ts'
import { requireOrdinary } from '../warehouse/duckdb/database-file.ts'
import type { Engine } from '../warehouse/engine.ts'
import { runTogether } from '../warehouse/run-together.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'

export interface PublishedTable {
  /** With its schema. */
  readonly name: string
  readonly rows: number
}

const schemas = ['star', 'mart', 'ops']

interface Named {
  readonly schema_name: string
  readonly name: string
  readonly comment: string | null
}

interface Source extends Named {
  readonly sql: string
}

const qualified = ({ schema_name, name }: Named): string => `${quoteName(schema_name)}.${quoteName(name)}`

/** In order of creation, so that a view comes after the tables and views that it reads. */
async function sourcesOf(engine: Engine, main: string, kind: 'table' | 'view'): Promise<Source[]> {
  const sources = await engine.rows<Source>(
    `select schema_name, ${kind}_name as name, sql, comment from duckdb_${kind}s()
     where database_name = $1 and not internal order by ${kind}_oid`,
    [main],
  )
  return sources.filter(({ schema_name, name }) => isPublished(schema_name, name))
}

async function copyRows(engine: Engine, main: string, table: Source): Promise<PublishedTable> {
  const from = `${quoteName(main)}.${qualified(table)}`
  const rows = await engine.run(`insert into ${qualified(table)} select * from ${from}`)
  return { name: `${table.schema_name}.${table.name}`, rows }
}

const commentsOf = (kind: 'table' | 'view', sources: readonly Source[]): string[] =>
  sources.flatMap(source =>
    source.comment === null
      ? []
      : [`comment on ${kind} ${qualified(source)} is ${quoteText(source.comment)}`],
  )

async function columnCommentsOf(engine: Engine, main: string): Promise<string[]> {
  const columns = await engine.rows<Named & { column_name: string; comment: string }>(
    `select schema_name, table_name as name, column_name, comment from duckdb_columns()
     where database_name = $1 and not internal and comment is not null`,
    [main],
  )
  return columns
    .filter(({ schema_name, name }) => isPublished(schema_name, name))
    .map(
      column =>
        `comment on column ${qualified(column)}.${quoteName(column.column_name)} is ${quoteText(column.comment)}`,
    )
}

/** Copies from the database `main` into the default database, which is empty; with comments and views. */
async function copyPublished(
  engine: Engine,
  main: string,
): Promise<{ tables: PublishedTable[]; views: string[] }> {
  const tables = await sourcesOf(engine, main, 'table')
  const views = await sourcesOf(engine, main, 'view')
  // A thousand comments, each committed by itself, would cost more than the rows.
  await engine.transaction(async engine => {
    for (const schema of schemas) await engine.run(`create schema ${schema}`)
    for (const source of [...tables, ...views]) await engine.run(source.sql)
    await runTogether(engine, [
      ...commentsOf('table', tables),
      ...commentsOf('view', views),
      ...(await columnCommentsOf(engine, main)),
    ])
  })
  const copied: PublishedTable[] = []
  for (const table of tables) copied.push(await copyRows(engine, main, table))
  return { tables: copied, views: views.map(({ schema_name, name }) => `${schema_name}.${name}`) }
}

/**
 * Writes the copy of the database that the connection has open into a new file. The file is the default database
 * meanwhile, so no other statement may run; `complete` may still change it.
 */
export async function writeCopy(
  engine: Engine,
  file: string,
  complete: () => Promise<void>,
): Promise<{ tables: PublishedTable[]; views: string[] }> {
  const [working] = await engine.rows<{ name: string }>('select current_database() as name')
  const main = working?.name ?? ''
  requireOrdinary(file)
  await engine.run(`attach ${quoteText(file)} as published (block_size 16384)`)
  try {
    await engine.run('use published')
    const copied = await copyPublished(engine, main)
    await complete()
    await engine.run(`use ${quoteName(main)}`)
    await engine.run('checkpoint published')
    return copied
  } finally {
    await engine.run(`use ${quoteName(main)}`)
    await engine.run('detach published')
  }
}
