/** Which tables and views are published, and their copy from one attached DuckDB database into the default one. */
import type { Engine } from '../warehouse/engine.ts'
import { runTogether } from '../warehouse/run-together.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'

export interface PublishedTable {
  /** With its schema. */
  readonly name: string
  readonly rows: number
}

/** Whole schemas without personal data. */
const openSchemas = ['star', 'mart']

/** Of ops, what tells how complete and fresh the data is; quarantine and the like hold payloads and stay behind. */
const openLedger = [
  'run',
  'watermark',
  'window',
  'schema_drift',
  'discovered',
  'hint',
  'check_result',
  'metric_calibration',
  'metric_definition',
  'crosscheck',
  'refused_delivery',
]

export const isPublished = (schema: string, name: string): boolean =>
  openSchemas.includes(schema) || (schema === 'ops' && openLedger.includes(name))

interface Source {
  readonly schema_name: string
  readonly name: string
  readonly sql: string
  readonly comment: string | null
}

const qualified = ({ schema_name, name }: Pick<Source, 'schema_name' | 'name'>): string =>
  `${quoteName(schema_name)}.${quoteName(name)}`

const list = (texts: readonly string[]): string => texts.map(quoteText).join(', ')

const isOpen = (name: string): string =>
  `(schema_name in (${list(openSchemas)}) or (schema_name = 'ops' and ${name} in (${list(openLedger)})))`

/** DuckDB numbers what it creates, so that a view comes after those that it reads. */
async function sourcesOf(engine: Engine, main: string, kind: 'table' | 'view'): Promise<Source[]> {
  return engine.rows<Source>(
    `select schema_name, ${kind}_name as name, sql, comment from duckdb_${kind}s()
     where database_name = $1 and not internal and ${isOpen(`${kind}_name`)} order by ${kind}_oid`,
    [main],
  )
}

async function copyRows(engine: Engine, main: string, table: Source): Promise<PublishedTable> {
  const from = `${quoteName(main)}.${qualified(table)}`
  const rows = await engine.run(`insert into ${qualified(table)} select * from ${from}`)
  return { name: `${table.schema_name}.${table.name}`, rows }
}

async function commentsOf(engine: Engine, main: string, kind: 'table' | 'view'): Promise<string[]> {
  const sources = await sourcesOf(engine, main, kind)
  return sources.flatMap(source =>
    source.comment === null
      ? []
      : [`comment on ${kind} ${qualified(source)} is ${quoteText(source.comment)}`],
  )
}

async function columnCommentsOf(engine: Engine, main: string): Promise<string[]> {
  const columns = await engine.rows<Source & { column_name: string; comment: string }>(
    `select schema_name, table_name as name, column_name, comment from duckdb_columns()
     where database_name = $1 and not internal and comment is not null and ${isOpen('table_name')}`,
    [main],
  )
  return columns.map(
    column =>
      `comment on column ${qualified(column)}.${quoteName(column.column_name)} is ${quoteText(column.comment)}`,
  )
}

/** Copies from the database `main` into the default database, which is empty; comments and views come along. */
export async function copyOpenTables(
  engine: Engine,
  main: string,
): Promise<{ tables: PublishedTable[]; views: string[] }> {
  const tables = await sourcesOf(engine, main, 'table')
  const views = await sourcesOf(engine, main, 'view')
  // A thousand comments, each committed by itself, would cost more than the rows.
  await engine.transaction(async engine => {
    for (const schema of [...openSchemas, 'ops']) await engine.run(`create schema ${schema}`)
    for (const source of [...tables, ...views]) await engine.run(source.sql)
    await runTogether(engine, await commentsOf(engine, main, 'table'))
    await runTogether(engine, await commentsOf(engine, main, 'view'))
    await runTogether(engine, await columnCommentsOf(engine, main))
  })
  const copied: PublishedTable[] = []
  for (const table of tables) copied.push(await copyRows(engine, main, table))
  return { tables: copied, views: views.map(({ schema_name, name }) => `${schema_name}.${name}`) }
}
