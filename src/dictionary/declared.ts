/** What the declarations say of a column besides its name, type and description. */
import { catalogue } from '../contract/catalogue.ts'
import { referenceDimensions } from '../contract/dimensions.ts'
import type { Column } from '../contract/fields/column.ts'
import { type Table, tablesOf } from '../contract/fields/table.ts'
import { lengthColumn, memberTables, physicalTables, rowColumns } from '../warehouse/schema/physical.ts'
import { references } from '../warehouse/schema/references.ts'
import type { Target } from './entries.ts'

const declaredTables: readonly Table[] = [
  ...referenceDimensions,
  ...catalogue.flatMap(({ table }) => tablesOf(table)),
]

/** By table and column of star, as fact_timesheet.net_hours. */
const columns: ReadonlyMap<string, Column> = new Map(
  declaredTables.flatMap(table =>
    Object.entries(table.columns).map(([name, column]): [string, Column] => [
      `${table.name}.${name}`,
      column,
    ]),
  ),
)

/** A star column, also one that holds the length of a free text. */
export function declaredColumn(table: string, name: string): Column | undefined {
  const free =
    name.endsWith(lengthColumn('')) && columns.get(`${table}.${name.slice(0, -lengthColumn('').length)}`)
  return columns.get(`${table}.${name}`) ?? (free || undefined)
}

/** The table of star whose restricted columns a table of pii holds, with or without history. */
const ofPiiTable: ReadonlyMap<string, string> = new Map(
  declaredTables.map(({ name, piiTable }) => [piiTable, name]),
)

export const starTableOf = (schema: string, name: string): string | undefined =>
  schema === 'pii' ? ofPiiTable.get(name.replace(/_history$/, '')) : name

/** Keys by qualified name of the table. */
export const keys: ReadonlyMap<string, string> = new Map(
  physicalTables.map(({ schema, name, key }) => [`${schema}.${name}`, key]),
)

/** Keys of the dimensions of star that records refer to, by name of the table. */
export const dimensionKeys: ReadonlyMap<string, string> = new Map(
  [...memberTables.values()].map(({ name, key }) => [name, key]),
)

const referred: ReadonlyMap<string, Target> = new Map(
  references.map(({ table, column, target }) => [
    `${table}.${column}`,
    { table: `star.${target.name}`, column: target.key },
  ]),
)

/** The records that the rows of a list can belong to: answers belong to timesheets, requisitions or assignments. */
const recordsOf = new Map<string, Set<string>>()
for (const { table: root } of catalogue)
  for (const { name } of tablesOf(root).slice(1))
    recordsOf.set(name, new Set([...(recordsOf.get(name) ?? []), root.name]))

/** What a column of star points to; undefined where that depends on the row. */
export function targetOf(table: string, column: string): Target | undefined {
  const target = referred.get(`${table}.${column}`)
  const records = [...(recordsOf.get(table) ?? [])].map(name => `star.${name}`)
  return target && records.length > 1 && records.includes(target.table) ? undefined : target
}

const dimensionOfKey: ReadonlyMap<string, Target> = new Map(
  [...dimensionKeys].map(([table, column]) => [column, { table: `star.${table}`, column }]),
)

/** A column of a mart or view that is called like the key of a dimension holds that key. */
export const targetByName = (column: string): Target | undefined => dimensionOfKey.get(column)

/** The records that a row of this table can belong to; none for a record itself. */
export const ownersOf = (table: string): readonly string[] => [...(recordsOf.get(table) ?? [])]

const everyRow = new Set(rowColumns.map(({ name }) => name))
export const isOfEveryRow = (column: string): boolean => everyRow.has(column)
