/**
 * Reads from the declarations which fields a column comes from, which table it refers to, and which records its rows
 * belong to.
 */
import { catalogue } from '../contract/catalogue.ts'
import { referenceDimensions } from '../contract/dimensions.ts'
import type { Column, ColumnSource, FieldPath } from '../contract/fields/column.ts'
import { type ChildTable, type ElementShape, type Table, tablesOf } from '../contract/fields/table.ts'
import { lengthColumn, memberTables, physicalTables, rowColumns } from '../warehouse/schema/physical.ts'
import { references } from '../warehouse/schema/references.ts'
import type { ColumnEntry, ReferenceTarget } from './entries.ts'

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

/** The declaration of a star column, including columns with the length of a free text. */
export function declaredColumn(table: string, name: string): Column | undefined {
  const free =
    name.endsWith(lengthColumn('')) && columns.get(`${table}.${name.slice(0, -lengthColumn('').length)}`)
  return columns.get(`${table}.${name}`) ?? (free || undefined)
}

/** For each PII table, the table of star that it belongs to. */
const ofPiiTable: ReadonlyMap<string, string> = new Map(
  declaredTables.map(({ name, piiTable }) => [piiTable, name]),
)

export const starTableOf = (schema: string, name: string): string | undefined =>
  schema === 'pii' ? ofPiiTable.get(name.replace(/_history$/, '')) : name

/** Keys by qualified name of the table. */
export const keys: ReadonlyMap<string, string> = new Map(
  physicalTables.map(({ schema, name, key }) => [`${schema}.${name}`, key]),
)

/** Keys of the dimensions of star, by name of the table. */
export const dimensionKeys: ReadonlyMap<string, string> = new Map(
  [...memberTables.values()].map(({ name, key }) => [name, key]),
)

const referred: ReadonlyMap<string, ReferenceTarget> = new Map(
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

/** The target of a column of star; undefined where it depends on the row. */
export function targetOf(table: string, column: string): ReferenceTarget | undefined {
  const target = referred.get(`${table}.${column}`)
  const records = [...(recordsOf.get(table) ?? [])].map(name => `star.${name}`)
  return target && records.length > 1 && records.includes(target.table) ? undefined : target
}

const dimensionOfKey: ReadonlyMap<string, ReferenceTarget> = new Map(
  [...dimensionKeys].map(([table, column]) => [column, { table: `star.${table}`, column }]),
)

/** A column of a mart or view with the name of a dimension's key holds that key. */
export const targetByName = (column: string): ReferenceTarget | undefined => dimensionOfKey.get(column)

/** The records that a row of this table can belong to; none for a record itself. */
export const ownersOf = (table: string): readonly string[] => [...(recordsOf.get(table) ?? [])]

const everyRow = new Set(rowColumns.map(({ name }) => name))
export const isOfEveryRow = (column: string): boolean => everyRow.has(column)

/** The origin of a column. */
export type Origin = Pick<ColumnEntry, 'fields' | 'made'>

/** A declared table, with the path of its elements in the record. */
interface Position {
  readonly table: Table
  /** Path of an element, such as timesheet.timelogs[]. */
  readonly at: string
  readonly root: Table
  readonly rootAt: string
  readonly parent?: Position
}

export const nothing: Origin = { fields: [] }

const joined = (at: string, path: FieldPath): string => [at, ...path].join('.')

const endings: Readonly<Record<ElementShape, string>> = {
  object: '[]',
  value: '[]',
  single: '',
  leaves: '.*',
}

/** Path through every list between the record and the element. */
function elementPath(at: string, { lists, shape }: ChildTable): string {
  const last = lists.length - 1
  return lists.reduce((path, list, index) => joined(path, list) + (index < last ? '[]' : endings[shape]), at)
}

function positionsBelow(place: Position): Position[] {
  const below = place.table.children.flatMap(child =>
    positionsBelow({ ...place, table: child.table, at: elementPath(place.at, child), parent: place }),
  )
  return [place, ...below]
}

const places: readonly Position[] = catalogue.flatMap(({ entity, table }) =>
  positionsBelow({ table, at: entity, root: table, rootAt: entity }),
)

/** Columns of the same table that SQL names, and attributes of a reference, such as `requestor__email`. */
function namedIn(sql: string, { table }: Position): [Column, ColumnSource][] {
  const words = [...new Set(sql.match(/[a-z]\w*/g) ?? [])]
  return words.flatMap((word): [Column, ColumnSource][] => {
    const column = table.columns[word]
    if (column) return [[column, column.source]]
    const [owner, attribute] = word.split('__')
    const said = table.columns[owner ?? '']
    const source = said?.member?.attributes[attribute ?? '']
    return said && source ? [[said, source]] : []
  })
}

const union = (origins: readonly Origin[]): string[] => [...new Set(origins.flatMap(({ fields }) => fields))]

function originOfSource(
  source: ColumnSource,
  place: Position,
  asked: ReadonlySet<ColumnSource> = new Set(),
): Origin {
  if (asked.has(source)) return nothing
  const seen = new Set([...asked, source])
  const at = (target: Position | undefined, name: string): Origin => {
    const column = target?.table.columns[name]
    return target && column ? originOfSource(column.source, target, seen) : nothing
  }
  switch (source.from) {
    case 'field':
      // The stage derives path, value and type from a leaf; the service has only the leaf.
      return { fields: [place.at.endsWith('*') ? place.at : joined(place.at, source.path)] }
    case 'scope':
      return { fields: [], made: 'given in the request' }
    case 'root':
      return at({ ...place, table: place.root, at: place.rootAt }, source.column)
    case 'parent':
      return at(place.parent, source.column)
    case 'ordinal':
      return { fields: [place.at], made: 'position in a list' }
    case 'list': {
      const lists = source.lists.reduce((path, list) => `${joined(path, list)}[]`, place.at)
      return { fields: [joined(lists, source.path)], made: 'figure of a list' }
    }
    case 'derived': {
      const parts = namedIn(source.sql, place).map(([, part]) => originOfSource(part, place, seen))
      return { fields: union(parts), made: 'derived' }
    }
    case 'constant':
      return nothing
  }
}

type ColumnOrigins = Map<string, Origin>

/** A column with several origins has all their fields, and the `made` of the first. */
function add(origins: ColumnOrigins, name: string, origin: Origin): void {
  const known = origins.get(name)
  if (!known) origins.set(name, origin)
  else origins.set(name, { ...known, fields: union([known, origin]) })
}

/** Columns of tables that records become. */
function declaredOrigins(): ColumnOrigins {
  const origins: ColumnOrigins = new Map()
  for (const place of places) {
    for (const [name, { source }] of Object.entries(place.table.columns))
      add(origins, `${place.table.name}.${name}`, originOfSource(source, place))
  }
  return origins
}

/** Columns of dimensions that records refer to. */
function memberOrigins(keys: ReadonlyMap<string, string>): ColumnOrigins {
  const origins: ColumnOrigins = new Map()
  for (const place of places) {
    for (const { member, source } of Object.values(place.table.columns)) {
      if (!member) continue
      const table = `dim_${member.dimension}`
      add(origins, `${table}.${keys.get(table) ?? ''}`, originOfSource(source, place))
      for (const [name, said] of Object.entries(member.attributes))
        add(origins, `${table}.${name}`, originOfSource(said, place))
    }
  }
  return origins
}

/**
 * Origin by table and column without the schema, as `fact_timesheet.net_hours`. `keys` names the key of each dimension.
 * Attributes of a member that is read by itself come from its own record only.
 */
export function columnOrigins(keys: ReadonlyMap<string, string>): ReadonlyMap<string, Origin> {
  return new Map([...memberOrigins(keys), ...declaredOrigins()])
}

/** Fields with free text; they all go to pii.text. */
export const freeTextFields: readonly string[] = places
  .flatMap(place =>
    Object.values(place.table.columns)
      .filter(({ privacy }) => privacy === 'freeText')
      .flatMap(({ source }) => originOfSource(source, place).fields),
  )
  .filter((field, index, all) => all.indexOf(field) === index)
