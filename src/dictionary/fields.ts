/** Which fields of the service become which column, as the declarations say it. */
import { catalogue } from '../contract/catalogue.ts'
import type { Column, Path, Source } from '../contract/fields/column.ts'
import type { Child, ElementShape, Table } from '../contract/fields/table.ts'
import type { ColumnEntry } from './entries.ts'

/** What a column is made of. */
export type Origin = Pick<ColumnEntry, 'fields' | 'made'>

/** A declared table, where its elements stand in the record. */
interface Place {
  readonly table: Table
  /** Path of an element, such as timesheet.timelogs[]. */
  readonly at: string
  readonly root: Table
  readonly rootAt: string
  readonly parent?: Place
}

export const nothing: Origin = { fields: [] }

const joined = (at: string, path: Path): string => [at, ...path].join('.')

const endings: Readonly<Record<ElementShape, string>> = {
  object: '[]',
  value: '[]',
  single: '',
  leaves: '.*',
}

/** Every list between the record and the element, spelled as a path. */
function elementPath(at: string, { lists, shape }: Child): string {
  const last = lists.length - 1
  return lists.reduce((path, list, index) => joined(path, list) + (index < last ? '[]' : endings[shape]), at)
}

function placesBelow(place: Place): Place[] {
  const below = place.table.children.flatMap(child =>
    placesBelow({ ...place, table: child.table, at: elementPath(place.at, child), parent: place }),
  )
  return [place, ...below]
}

const places: readonly Place[] = catalogue.flatMap(({ entity, table }) =>
  placesBelow({ table, at: entity, root: table, rootAt: entity }),
)

/** Columns of the same table that SQL names, and what a reference says besides its id, as `requestor__email`. */
function namedIn(sql: string, { table }: Place): [Column, Source][] {
  const words = [...new Set(sql.match(/[a-z]\w*/g) ?? [])]
  return words.flatMap((word): [Column, Source][] => {
    const column = table.columns[word]
    if (column) return [[column, column.source]]
    const [owner, attribute] = word.split('__')
    const said = table.columns[owner ?? '']
    const source = said?.member?.attributes[attribute ?? '']
    return said && source ? [[said, source]] : []
  })
}

const union = (origins: readonly Origin[]): string[] => [...new Set(origins.flatMap(({ fields }) => fields))]

function originOfSource(source: Source, place: Place, asked: ReadonlySet<Source> = new Set()): Origin {
  if (asked.has(source)) return nothing
  const seen = new Set([...asked, source])
  const at = (target: Place | undefined, name: string): Origin => {
    const column = target?.table.columns[name]
    return target && column ? originOfSource(column.source, target, seen) : nothing
  }
  switch (source.from) {
    case 'field':
      // Path, value and type of a leaf are made by the stage: the service has the leaf only.
      return { fields: [place.at.endsWith('*') ? place.at : joined(place.at, source.path)] }
    case 'scope':
      return { fields: [], made: 'said by the request' }
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

type Origins = Map<string, Origin>

/** Of several origins of one column: all their fields, and what was made of them if that is the same. */
function add(origins: Origins, name: string, origin: Origin): void {
  const held = origins.get(name)
  if (!held) origins.set(name, origin)
  else origins.set(name, { ...held, fields: union([held, origin]) })
}

/** Columns of tables that records fill by themselves. */
function declaredOrigins(): Origins {
  const origins: Origins = new Map()
  for (const place of places) {
    for (const [name, { source }] of Object.entries(place.table.columns))
      add(origins, `${place.table.name}.${name}`, originOfSource(source, place))
  }
  return origins
}

/** Columns of dimensions that records only refer to. */
function mentionedOrigins(keys: ReadonlyMap<string, string>): Origins {
  const origins: Origins = new Map()
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
 * What records say of a thing that can be read by itself is left out: its own record says it.
 */
export function columnOrigins(keys: ReadonlyMap<string, string>): ReadonlyMap<string, Origin> {
  return new Map([...mentionedOrigins(keys), ...declaredOrigins()])
}

/** Fields that hold words people typed; they all go to pii.text. */
export const freeTextFields: readonly string[] = places
  .flatMap(place =>
    Object.values(place.table.columns)
      .filter(({ privacy }) => privacy === 'freeText')
      .flatMap(({ source }) => originOfSource(source, place).fields),
  )
  .filter((field, index, all) => all.indexOf(field) === index)
