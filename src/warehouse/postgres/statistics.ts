/** Finds row values that PostgreSQL keeps in its table statistics until the next ANALYZE, and removes them. */
import type { Engine } from '../engine.ts'
import { schemaNames } from '../schema/schemas.ts'
import { quoteText } from '../sql-text.ts'

export interface QuotedValue {
  /** As the engine names the schema. */
  readonly schema: string
  readonly table: string
  readonly column: string
  readonly text: string
}

/** Items of an array as the server writes it. */
const itemsOf = (array: string): string[] =>
  [...array.matchAll(/"((?:[^"\\]|\\.)*)"|([^{},"]+)/g)].map(
    ([, inQuotes, plain]) => inQuotes?.replace(/\\(.)/g, '$1') ?? plain ?? '',
  )

/** The most common values of each column, and the bounds of its histogram. */
export async function quotedValues(engine: Engine): Promise<QuotedValue[]> {
  const schemas = schemaNames.map(name => quoteText(engine.schema(name))).join(', ')
  const rows = await engine.rows<Omit<QuotedValue, 'text'> & { readonly values: string }>(
    `select schemaname as schema, tablename as table, attname as column,
      coalesce(cast(most_common_vals as text), '') || coalesce(cast(histogram_bounds as text), '') as values
     from pg_catalog.pg_stats where schemaname in (${schemas})`,
  )
  return rows.flatMap(({ values, ...place }) => itemsOf(values).map(text => ({ ...place, text })))
}

/** Rewrites the statistics. If this user is not the owner of the database, returns the statement for that owner. */
export async function rewriteStatistics(engine: Engine): Promise<string | undefined> {
  const [right] = await engine.rows<{ may: boolean }>(
    `select pg_catalog.pg_has_role(datdba, 'usage') as may from pg_catalog.pg_database
     where datname = pg_catalog.current_database()`,
  )
  const statement = 'vacuum full pg_catalog.pg_statistic'
  if (!right?.may) return statement
  await engine.run(statement)
  return undefined
}
