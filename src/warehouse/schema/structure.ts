/** Generates the DDL of declared tables for each engine: tables, indexes and comments. */
import { createHash } from 'node:crypto'
import type { Engine, EngineTraits } from '../engine.ts'
import { quoteName, quoteNames, quoteText } from '../sql-text.ts'
import type { PhysicalColumn, PhysicalTable } from './physical.ts'
import type { SchemaName } from './schemas.ts'

/** Max bytes of a name: PostgreSQL truncates longer ones. All names are ASCII. */
const longestName = 63

export const qualified = ({ schema, name }: { readonly schema: string; readonly name: string }): string =>
  `${schema}.${quoteName(name)}`

export const columnDefinition = ({ columnType }: EngineTraits, { name, sql }: PhysicalColumn): string =>
  `${quoteName(name)} ${columnType(sql)}`

export function createTable(traits: EngineTraits, table: PhysicalTable): string {
  const columns = table.columns.map(column => columnDefinition(traits, column))
  const isKeyed = traits.keepsKeys && table.isUnique
  const key = isKeyed ? [`primary key (${quoteName(table.key)})`] : []
  return `create table if not exists ${qualified(table)} (${[...columns, ...key].join(', ')})`
}

/** Joins the parts to a name; a hash replaces the end of a long one. */
export function shortName(parts: readonly string[]): string {
  const name = parts.join('_')
  if (name.length <= longestName) return name
  const tail = createHash('md5').update(name).digest('hex').slice(0, 8)
  return `${name.slice(0, longestName - 9)}_${tail}`
}

/** Columns by which reports filter a fact: its first date, and the company. */
function reportColumns({ schema, name, columns }: PhysicalTable): string[][] {
  if (schema !== 'star' || !name.startsWith('fact_')) return []
  const day = columns.find(({ sql }) => sql === 'date')?.name
  const company = columns.find(column => column.name === 'company_id')?.name
  return day === undefined ? [] : [[day, ...(company ? [company] : [])]]
}

/** Columns for recent records: every sync compares recent changes, and searches the rows it loaded for ids. */
function recentColumns({ schema, name, isUnique, owner, key }: PhysicalTable): string[][] {
  const isRecord = schema === 'star' && name.startsWith('fact_') && isUnique && owner === key
  return isRecord ? [['source_updated_at'], ['loaded_at']] : []
}

/** Few indexes, as each slows every load: record, non-unique key, date, and times of change and loading. */
function indexColumns(table: PhysicalTable): string[][] {
  const byKey = table.isUnique ? [] : [[table.key]]
  const byOwner = table.isUnique && table.owner === table.key ? [] : [[table.owner]]
  const isLog = table.schema === 'history' || table.name.endsWith('_history')
  return isLog ? [[table.owner]] : [...byKey, ...byOwner, ...reportColumns(table), ...recentColumns(table)]
}

/** The indexes of a table in PostgreSQL. */
export function createIndexes(table: PhysicalTable): string[] {
  const distinct = new Map(indexColumns(table).map(columns => [columns.join(), columns]))
  return [...distinct.values()].map(
    columns =>
      `create index if not exists ${quoteName(shortName([table.name, ...columns, 'idx']))}
       on ${qualified(table)} (${quoteNames(columns)})`,
  )
}

export interface CommentedTable {
  readonly schema: SchemaName
  readonly name: string
  readonly description: string
  readonly columns: readonly { readonly name: string; readonly description: string }[]
}

/** Statements for the comments that are missing or differ. */
export async function missingComments(engine: Engine, tables: readonly CommentedTable[]): Promise<string[]> {
  const existing = await engine.comments()
  return tables.flatMap(table => {
    const place = `${engine.schema(table.schema)}.${table.name}`
    const own = { place, on: `table ${qualified(table)}`, said: table.description }
    const columns = table.columns.map(({ name, description }) => ({
      place: `${place}.${name}`,
      on: `column ${qualified(table)}.${quoteName(name)}`,
      said: description,
    }))
    return [own, ...columns]
      .filter(one => existing.get(one.place) !== one.said)
      .map(({ on, said }) => `comment on ${on} is ${quoteText(said)}`)
  })
}
