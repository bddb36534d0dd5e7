/** Copies published tables and views from one attached DuckDB database into the default one. */
import { isPublished } from '../state/tables.ts'
import { definitionsIn, type RelationDefinition } from '../warehouse/duckdb/catalogue.ts'
import { requireOrdinary } from '../warehouse/duckdb/database-file.ts'
import { type Engine, runTogether } from '../warehouse/engine.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'

export interface PublishedTable {
  /** With its schema. */
  readonly name: string
  readonly rows: number
}

const schemas = ['star', 'mart', 'ops']

const qualified = ({ schema, name }: RelationDefinition): string => `${quoteName(schema)}.${quoteName(name)}`

async function copyRows(engine: Engine, main: string, table: RelationDefinition): Promise<PublishedTable> {
  const from = `${quoteName(main)}.${qualified(table)}`
  const rows = await engine.run(`insert into ${qualified(table)} select * from ${from}`)
  return { name: `${table.schema}.${table.name}`, rows }
}

const commentsOf = (source: RelationDefinition): string[] => [
  ...(source.comment === null
    ? []
    : [`comment on ${source.kind} ${qualified(source)} is ${quoteText(source.comment)}`]),
  ...source.columns.flatMap(({ name, comment }) =>
    comment === null
      ? []
      : [`comment on column ${qualified(source)}.${quoteName(name)} is ${quoteText(comment)}`],
  ),
]

/** Copies from the database `main` into the default database, which is empty; with comments and views. */
async function copyPublished(
  engine: Engine,
  main: string,
): Promise<{ tables: PublishedTable[]; views: string[] }> {
  const sources = (await definitionsIn(engine, main)).filter(({ schema, name }) => isPublished(schema, name))
  // One transaction: committing a thousand comments one by one would cost more than the rows.
  await engine.transaction(async engine => {
    for (const schema of schemas) await engine.run(`create schema ${schema}`)
    for (const source of sources) await engine.run(source.sql)
    await runTogether(engine, sources.flatMap(commentsOf))
  })
  const copied: PublishedTable[] = []
  for (const source of sources) if (source.kind === 'table') copied.push(await copyRows(engine, main, source))
  const views = sources.filter(({ kind }) => kind === 'view')
  return { tables: copied, views: views.map(({ schema, name }) => `${schema}.${name}`) }
}

/**
 * Copies the connection's open database into a new file. The file is the default database during this, so no other statement
 * may run; `complete` may still change it.
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
