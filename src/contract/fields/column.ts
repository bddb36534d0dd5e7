/** A column of the warehouse and where its value comes from: the vocabulary that resource files are written in. */

/** What a value is; `src/warehouse/column-type.ts` says how each is stored, cast and checked for loss. */
export type ColumnType =
  | 'text'
  | 'url'
  | 'integer'
  | 'number'
  | 'money'
  | 'quantity'
  | 'coordinate'
  | 'boolean'
  | 'timestamp'
  | 'day'
  | 'dayMonthYear'
  | 'json'

/**
 * Who may see a value: `open` goes to star; `personal` (identifies a person) and `restricted` (bank details,
 * file addresses) go to the table's twin in the pii schema; `freeText` goes to pii.text, and star keeps its length.
 */
export type Privacy = 'open' | 'personal' | 'restricted' | 'freeText'

/** A path of JSON keys below the element that a table describes; empty for an array of plain values. */
export type Path = readonly string[]

/** Where a column's value comes from. */
export type Source =
  /** The service's field at this path. */
  | { readonly from: 'field'; readonly path: Path }
  /** A parameter of the request that read the record, such as the company it was asked for. */
  | { readonly from: 'scope'; readonly name: string }
  /** A column of the record's own row, repeated on a child row. */
  | { readonly from: 'root'; readonly column: string }
  /** A column of the enclosing child row, repeated on its own children. */
  | { readonly from: 'parent'; readonly column: string }
  /** The position in the list, from 1; `depth` counts list segments of the child's path. */
  | { readonly from: 'ordinal'; readonly depth: number }
  | { readonly from: 'constant'; readonly value: string }
  /** What a list of the record amounts to. */
  | ListSource
  /** Portable SQL over columns named before it. */
  | { readonly from: 'derived'; readonly sql: string }

/** One figure of a list: of the field `path` in its elements, or of how many there are. */
export interface ListSource {
  readonly from: 'list'
  /** One segment per nested list, as in Child.lists. */
  readonly lists: readonly Path[]
  readonly path: Path
  readonly take: 'min' | 'max' | 'sum' | 'count'
  /** Only elements whose field `key` has this text. */
  readonly where?: { readonly key: string; readonly is: string }
}

/** The row of a reference dimension that this column points to, with what the record says of it. */
export interface Member {
  readonly dimension: string
  readonly attributes: Readonly<Record<string, Source>>
}

/** Whose id a column holds. */
export interface Naming {
  /** Plural name of the resource. */
  readonly resource: string
  /** Portable SQL over the columns of its table: which of its rows; all when left out. */
  readonly where?: string
  /** The record stands there as well, whole, so that it need not be asked for. */
  readonly brings?: true
}

/** The values of a column tie records of two resources: that one of them changed hints at a change of the other. */
export interface Tie {
  /** Plural name of the resource whose records may have changed, and the column of its table where the values stand. */
  readonly of: string
  readonly at?: string
  /** The records that changed, where they are not those that carry the column: known by their key. */
  readonly by?: string
  /** A column of both tables in which the two have to agree as well. */
  readonly within?: string
  /** Of such changes, the share that comes with a change of the other: a first guess, until reads have shown better. */
  readonly share: number
  readonly because: string
}

export interface Column<Read extends Leaf = Leaf> {
  /** For the compiler only: the path that is read, and what stands there. */
  readonly reads?: Read
  readonly type: ColumnType
  readonly source: Source
  readonly description: string
  readonly privacy: Privacy
  /** Values the contract names; others are kept and reported as drift. */
  readonly values?: readonly string[]
  readonly member?: Member
  /** The value is the id of a record that can be read one by one only. */
  readonly names?: Naming
  readonly ties?: readonly Tie[]
  /** Moves with the clock, so a difference in it alone is no change. */
  readonly volatile?: true
  /** A record without it cannot be stored and goes to quarantine. */
  readonly required?: true
}

/** A path and the type of what the service writes there; one of each path where there are several. */
export type Leaf<At extends string = string, Value = unknown> = At extends string
  ? readonly [path: At, value: Value]
  : never

const split = (path: string): Path => (path === '' ? [] : path.split('.'))

function field<const At extends string, Value>(
  type: ColumnType,
  path: At,
  description: string,
): Column<Leaf<At, Value>> {
  return { type, source: { from: 'field', path: split(path) }, description, privacy: 'open' }
}

type Declare<Value> = <const At extends string>(path: At, description: string) => Column<Leaf<At, Value>>

export const text: Declare<string> = (path, description) => field('text', path, description)
export const integer: Declare<number> = (path, description) => field('integer', path, description)
/** A number the contract gives no unit for, such as an uplift factor. */
export const number: Declare<number> = (path, description) => field('number', path, description)
/** Currency of the company, four decimals. */
export const money: Declare<number> = (path, description) => field('money', path, description)
/** Hours or units, four decimals. */
export const quantity: Declare<number> = (path, description) => field('quantity', path, description)
export const coordinate: Declare<number> = (path, description) => field('coordinate', path, description)
export const flag: Declare<boolean> = (path, description) => field('boolean', path, description)
export const timestamp: Declare<string> = (path, description) => field('timestamp', path, description)
/** A day the service writes as DD/MM/YYYY, empty when absent. */
export const dayMonthYear: Declare<string> = (path, description) => field('dayMonthYear', path, description)
/** What the contract calls "not shown": kept as JSON, its leaves in attribute_leaf. */
export const json: Declare<unknown> = (path, description) => field('json', path, description)

/** The id that every row needs; a record without it is quarantined. */
export const id: Declare<string> = (path, description) => ({ ...text(path, description), required: true })

export const personal = <Any extends Column>(column: Any): Any => ({ ...column, privacy: 'personal' })
export const restricted = <Any extends Column>(column: Any): Any => ({ ...column, privacy: 'restricted' })
/** Words people typed, which may say anything of anybody. */
export const freeText: Declare<string> = (path, description) => ({
  ...text(path, description),
  privacy: 'freeText',
})
/** A link to a file: stored without its query string, which is a key to the file. */
export const fileUrl: Declare<string> = (path, description) => restricted(field('url', path, description))

/** An id of a record that can be read one by one only. References to a dimension of such records need no word. */
export const idOf = <Any extends Column>(resource: string, column: Any, where?: string): Any => ({
  ...column,
  names: { resource, ...(where !== undefined && { where }) },
})

/** See Tie. */
export const ties = <Any extends Column>(column: Any, ...declared: readonly Tie[]): Any => ({
  ...column,
  ties: declared,
})

export const volatile = <Any extends Column>(column: Any): Any => ({ ...column, volatile: true })

/** A closed list in the contract; a new value is kept and reported. */
export function oneOf<const At extends string>(
  path: At,
  values: readonly string[],
  description: string,
): Column<Leaf<At, string>> {
  return { ...text(path, description), values }
}

/**
 * A reference to a dimension row, `'-1'` when the record names none. `attributes` maps columns of that dimension
 * to fields of this record, so that a thing that cannot be read by itself is still known by name.
 */
export function ref<const At extends string, const Also extends string = never>(
  path: At,
  dimension: string,
  attributes: Readonly<Record<string, Also>> = {},
): Column<Leaf<At | Also, string>> {
  const sources = Object.entries(attributes).map(([name, at]): [string, Source] => [
    name,
    { from: 'field', path: split(at) },
  ])
  return {
    ...text(path, `The ${dimension.replaceAll('_', ' ')}, or '-1' when the record names none.`),
    member: { dimension, attributes: Object.fromEntries(sources) },
  }
}

/** A `{id, name}` object of the contract. */
export function named<const At extends string>(path: At, dimension: string): Column<Leaf<Below<At>, string>> {
  const below = path === '' ? '' : `${path}.`
  return ref(`${below}id` as Below<At>, dimension, { name: `${below}name` as Below<At> })
}

type Below<At extends string> = At extends '' ? 'id' | 'name' : `${At}.${'id' | 'name'}`

function placed(source: Source, type: ColumnType, description: string): Column {
  return { type, source, description, privacy: 'open' }
}

export const scope = (name: string, description: string): Column =>
  placed({ from: 'scope', name }, 'text', description)
export const ofRoot = (column: string, type: ColumnType = 'text'): Column =>
  placed({ from: 'root', column }, type, `${column} of the record this row belongs to.`)
export const ofParent = (column: string): Column =>
  placed({ from: 'parent', column }, 'text', `${column} of the row this row belongs to.`)
export const ordinal = (description = 'Position in the list, from 1.', depth = 0): Column =>
  placed({ from: 'ordinal', depth }, 'integer', description)
export const constant = (value: string, description: string): Column =>
  placed({ from: 'constant', value }, 'text', description)
export function derived(type: ColumnType, sql: string, description: string): Column {
  return placed({ from: 'derived', sql }, type, description)
}

interface Figure extends Pick<ListSource, 'take' | 'where'> {
  /** `agencies[].offered` is that field of every agency; `a[].b[].c` walks a list inside a list; a count ends in []. */
  readonly of: string
}

/** One figure of a list inside the record. NULL when no element has it, or when there is no list. */
export function ofList(type: ColumnType, { of: path, ...elements }: Figure, description: string): Column {
  const segments = path.split(/\[\]\.?/).map(split)
  const place = { lists: segments.slice(0, -1), path: segments.at(-1) ?? [] }
  return placed({ from: 'list', ...place, ...elements }, type, description)
}

/** The calendar day, in the reporting zone, of a timestamp column: 23:00Z in summer is the next day in London. */
export function dayOf(column: string, description: string): Column {
  return derived('day', `cast(${column} at time zone 'Europe/London' as date)`, description)
}

/** A key made of other columns: md5 of their text joined by '|', the same on both engines. */
export function keyOf(...columns: string[]): Column {
  const parts = columns.map(column => `cast(${column} as varchar)`).join(', ')
  return derived('text', `md5(concat_ws('|', ${parts}))`, `md5 of ${columns.join(', ')}.`)
}

/** SQL for the days from one timestamp column to another, fractions included. */
export const elapsedDays = (from: string, to: string): string =>
  `cast((epoch(${to}) - epoch(${from})) / 86400.0 as decimal(18, 8))`
