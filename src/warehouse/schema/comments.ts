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

/** Statements for the comments that are missing or differ. */
export async function missingComments(engine: Engine, tables: readonly Commented[]): Promise<string[]> {
  const held = await engine.comments()
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
