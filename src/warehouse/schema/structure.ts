/** Tables as each engine makes them: DuckDB bare, PostgreSQL with keys, and with indexes for merge and reports. */
import { createHash } from 'node:crypto'
import type { Engine } from '../engine.ts'
import { quoteName, quoteNames } from '../sql-text.ts'
import type { PhysicalColumn, PhysicalTable } from './physical.ts'

/** What PostgreSQL cuts names at, in bytes; all of ours are ASCII. */
const longestName = 63

export const qualified = ({ schema, name }: { readonly schema: string; readonly name: string }): string =>
  `${schema}.${quoteName(name)}`

/**
 * Texts in PostgreSQL compare byte by byte, as DuckDB's do: the greatest of two words is the same on both, whatever the
 * locale of the database, and no index breaks when the operating system learns a new order.
 */
const typeOf = (engine: Engine['name'], { sql }: PhysicalColumn): string =>
  engine === 'postgres' && sql === 'text' ? 'text collate "C"' : sql

export const columnDefinition = (engine: Engine['name'], column: PhysicalColumn): string =>
  `${quoteName(column.name)} ${typeOf(engine, column)}`

/** DuckDB keeps no keys: they cost it several times the load, and uniqueness is a check there. */
export function createTable(engine: Engine['name'], table: PhysicalTable): string {
  const columns = table.columns.map(column => columnDefinition(engine, column))
  const isKeyed = engine === 'postgres' && table.isUnique
  const key = isKeyed ? [`primary key (${quoteName(table.key)})`] : []
  return `create table if not exists ${qualified(table)} (${[...columns, ...key].join(', ')})`
}

/** A name of these parts; a long one keeps its beginning and tells the rest by a hash. */
export function shortName(parts: readonly string[]): string {
  const name = parts.join('_')
  if (name.length <= longestName) return name
  const tail = createHash('md5').update(name).digest('hex').slice(0, 8)
  return `${name.slice(0, longestName - 9)}_${tail}`
}

/** Columns by which reports cut a fact: its first date within a company. */
function reportColumns({ schema, name, columns }: PhysicalTable): string[][] {
  if (schema !== 'star' || !name.startsWith('fact_')) return []
  const day = columns.find(({ sql }) => sql === 'date')?.name
  const company = columns.find(column => column.name === 'company_id')?.name
  return day === undefined ? [] : [[day, ...(company ? [company] : [])]]
}

/** Few, as each costs every load: by record, by a key that cannot be primary, and by date. */
function indexColumns(table: PhysicalTable): string[][] {
  const byKey = table.isUnique ? [] : [[table.key]]
  const byOwner = table.isUnique && table.owner === table.key ? [] : [[table.owner]]
  const isLog = table.schema === 'history' || table.name.endsWith('_history')
  return isLog ? [[table.owner]] : [...byKey, ...byOwner, ...reportColumns(table)]
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
