/** Derives where the fields of a resource are declared, and which of them the model cannot do without. */
import type { Column, ColumnSource, FieldPath } from '../fields/column.ts'
import type { Resource } from '../fields/resource.ts'
import type { ChildTable, Table } from '../fields/table.ts'

/** A declared table, with the path of its elements in the record: `timelogs`, and empty for the record itself. */
export interface TablePlace {
  readonly at: string
  readonly table: Table
  readonly shape: ChildTable['shape'] | 'record'
  readonly parent?: TablePlace
}

/** Paths name no list positions: `timelogs.hours.total`. */
export const joinedPath = (at: string, path: FieldPath): string =>
  [at, ...path].filter(step => step !== '').join('.')

function below(place: TablePlace): TablePlace[] {
  const children = place.table.children.flatMap(({ lists, shape, table }) =>
    below({ at: joinedPath(place.at, lists.flat()), table, shape, parent: place }),
  )
  return [place, ...children]
}

const places = new WeakMap<Table, readonly TablePlace[]>()

/** The record's own table first. */
export function tablePlaces({ table }: Resource): readonly TablePlace[] {
  const known = places.get(table) ?? below({ at: '', table, shape: 'record' })
  places.set(table, known)
  return known
}

/** The columns that SQL of this table names, and attributes of references, such as `requestor__email`. */
export function sourcesIn(sql: string, { columns }: Table): [name: string, source: ColumnSource][] {
  return [...new Set(sql.match(/[a-z]\w*/g) ?? [])].flatMap((word): [string, ColumnSource][] => {
    const column = columns[word]
    if (column) return [[word, column.source]]
    const [owner = '', attribute = ''] = word.split('__')
    const source = columns[owner]?.member?.attributes[attribute]
    return source ? [[word, source]] : []
  })
}

/** The fields of a derived key; the order of rows that share one is no part of it. */
function partsOf(sql: string, place: TablePlace, seen: ReadonlySet<string> = new Set()): string[] {
  const parts = sourcesIn(sql.split(' order by ')[0] ?? '', place.table).filter(([name]) => !seen.has(name))
  const next = new Set([...seen, ...parts.map(([name]) => name)])
  return parts.flatMap(([, source]) => {
    if (source.from === 'field') return [joinedPath(place.at, source.path)]
    return source.from === 'derived' ? partsOf(source.sql, place, next) : []
  })
}

function reasonOf(name: string, { member, names, required }: Column, { table }: TablePlace) {
  if (required || name === table.key) return `it is the key of star.${table.name}`
  if (member) return `it joins star.${table.name} to dim_${member.dimension}`
  return names && `it names ${names.resource}, which are read by id`
}

/** A contact has no id of its own: without its address it is known by its name. */
const isMadeKey = (name: string, { member }: Column, { key }: Table): boolean =>
  name === key || (member !== undefined && member.dimension !== 'contact')

function neededIn(place: TablePlace): [path: string, reason: string][] {
  if (place.shape === 'leaves') return []
  return Object.entries(place.table.columns).flatMap(([name, column]): [string, string][] => {
    const { source } = column
    if (source.from === 'derived')
      return isMadeKey(name, column, place.table)
        ? partsOf(source.sql, place).map(path => [path, `star.${place.table.name}.${name} is made of it`])
        : []
    const reason = source.from === 'field' ? reasonOf(name, column, place) : undefined
    return reason && source.from === 'field' ? [[joinedPath(place.at, source.path), reason]] : []
  })
}

const needed = new WeakMap<Table, ReadonlyMap<string, string>>()

/** Paths of fields that the model needs, each with the reason. */
export function neededFields(resource: Resource): ReadonlyMap<string, string> {
  const known = needed.get(resource.table)
  if (known) return known
  const created = resource.read.strategy === 'scan' ? 'createdAt' : undefined
  const times = [resource.updatedAt, resource.version, created].flatMap(path => path ?? [])
  const found = new Map([
    ...times.map((path): [string, string] => [path, 'scans find changes by it']),
    ...tablePlaces(resource).flatMap(neededIn),
  ])
  needed.set(resource.table, found)
  return found
}

/** Columns and attributes of other tables that a field becomes, by the path of the field. */
export interface FieldColumn {
  readonly path: string
  readonly place: TablePlace
  readonly name: string
  readonly column: Column
  /** Set for an attribute of the member that the column refers to. */
  readonly attribute?: string
}

export function fieldColumns(resource: Resource): FieldColumn[] {
  return tablePlaces(resource).flatMap(place =>
    place.shape === 'leaves'
      ? []
      : Object.entries(place.table.columns).flatMap(([name, column]): FieldColumn[] => {
          const { source, member } = column
          const own = source.from === 'field' ? [{ path: joinedPath(place.at, source.path) }] : []
          const attributes = Object.entries(member?.attributes ?? {}).flatMap(([attribute, from]) =>
            from.from === 'field' ? [{ path: joinedPath(place.at, from.path), attribute }] : [],
          )
          return [...own, ...attributes].map(one => ({ place, name, column, ...one }))
        }),
  )
}

/** Every declared path, and those of the objects and lists around them. */
export function fieldPaths(resource: Resource): ReadonlySet<string> {
  const leaves = [
    ...fieldColumns(resource).map(({ path }) => path),
    ...tablePlaces(resource).map(({ at }) => at),
  ]
  const found = new Set<string>()
  for (const leaf of leaves.filter(path => path !== ''))
    for (let path = leaf; path !== ''; path = path.slice(0, Math.max(0, path.lastIndexOf('.'))))
      found.add(path)
  return found
}
