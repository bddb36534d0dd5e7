/** Declares columns of the warehouse and where their values come from: the vocabulary of the resource files. */
import { dayInZone, dayWritten, stageDays } from './day-in-zone.ts'
import { nounOf } from './nouns.ts'

/** What a value is; `src/warehouse/schema/column-type.ts` says how each type is stored, cast and checked for loss. */
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
 * file addresses) go to the PII table; `freeText` goes to pii.text, and star keeps its length.
 */
export type Privacy = 'open' | 'personal' | 'restricted' | 'freeText'

/** A path of JSON keys below the element that a table describes; empty for an array of plain values. */
export type FieldPath = readonly string[]

/** Where a column's value comes from. */
export type ColumnSource =
  /** The service's field at this path. */
  | { readonly from: 'field'; readonly path: FieldPath }
  /** A parameter of the request that read the record, such as the company. */
  | { readonly from: 'scope'; readonly name: string }
  /** A column of the record's own row, repeated on a child row. */
  | { readonly from: 'root'; readonly column: string }
  /** A column of the enclosing child row, repeated on its own children. */
  | { readonly from: 'parent'; readonly column: string }
  /** The position in the list, from 1; `depth` counts list segments of the child's path. */
  | { readonly from: 'ordinal'; readonly depth: number }
  | { readonly from: 'constant'; readonly value: string }
  /** A figure of a list in the record. */
  | ListSource
  /** Portable SQL over columns declared before this one; `dayOf`: the timestamp column whose day it is, and how. */
  | { readonly from: 'derived'; readonly sql: string; readonly dayOf?: CountedDay }

/** The timestamp column of a day, and how the day follows from it. */
export interface CountedDay {
  readonly at: string
  readonly count: typeof dayInZone
}

/** A figure computed from a list: from the field `path` of its elements, or their number. */
export interface ListSource {
  readonly from: 'list'
  /** One segment per nested list, as in Child.lists. */
  readonly lists: readonly [FieldPath, ...FieldPath[]]
  readonly path: FieldPath
  readonly take: 'min' | 'max' | 'sum' | 'count'
  /** Only elements whose field `key` has this text. */
  readonly where?: { readonly key: string; readonly is: string }
}

/** The dimension row that this column refers to, and the attributes that the referring record gives: an inferred member. */
export interface MemberReference {
  readonly dimension: string
  readonly attributes: Readonly<Record<string, ColumnSource>>
}

/** The records whose ids a column contains. */
export interface RecordNaming {
  /** Plural name of the resource. */
  readonly resource: string
  /** Portable SQL over the columns of the table: the rows that contain such an id; all rows by default. */
  readonly where?: string
  /** The referring record includes the complete record, which needs no request of its own. */
  readonly brings?: true
}

/** A relation between records of two resources by the value of a column: a change of one signals a change of the other. */
export interface ChangeRelation {
  /** Plural name of the resource whose records may have changed. */
  readonly of: string
  /** The column of its table that contains the value; its key by default. */
  readonly at?: string
  /** Plural name of the resource whose change is the signal, when that is not the record with this column; matched by key. */
  readonly by?: string
  /** A column of both tables that must be equal too. */
  readonly within?: string
  /** Share of signals followed by a change of the other record: an initial estimate, until fetches give a better one. */
  readonly share: number
  /** Why one change suggests the other. */
  readonly because: string
}

export interface Column<Read extends FieldLeaf = FieldLeaf> {
  /** For the compiler only: the path that is read and the type of its value. */
  readonly reads?: Read
  readonly type: ColumnType
  readonly source: ColumnSource
  readonly description: string
  readonly privacy: Privacy
  /** Values the contract documents; others are kept and reported as schema drift. */
  readonly values?: readonly string[]
  readonly member?: MemberReference
  /** The value is the id of a record that can only be read by id. */
  readonly names?: RecordNaming
  readonly relations?: readonly ChangeRelation[]
  /** Changes as time passes: a difference in this column alone does not count as a change of the record. */
  readonly volatile?: true
  /** Describes the service's own write, such as `updatedAt`: a difference here alone does not make a new version. */
  readonly bookkeeping?: true
  /** A record without it cannot be stored and goes to quarantine. */
  readonly required?: true
  /** The contract gives several JSON types, or none: a value other than text is stored as JSON. */
  readonly isUntyped?: true
}

/** A path and the type of the value that the service writes there; for several paths, one leaf each. */
export type FieldLeaf<At extends string = string, Value = unknown> = At extends string
  ? readonly [path: At, value: Value]
  : never

const split = (path: string): FieldPath => (path === '' ? [] : path.split('.'))

function field<const At extends string, Value>(
  type: ColumnType,
  path: At,
  description: string,
): Column<FieldLeaf<At, Value>> {
  return { type, source: { from: 'field', path: split(path) }, description, privacy: 'open' }
}

type ColumnDeclaration<Value> = <const At extends string>(
  path: At,
  description: string,
) => Column<FieldLeaf<At, Value>>

export const text: ColumnDeclaration<string> = (path, description) => field('text', path, description)
export const integer: ColumnDeclaration<number> = (path, description) => field('integer', path, description)
export const number: ColumnDeclaration<number> = (path, description) => field('number', path, description)
/** Currency of the company, four decimals. */
export const money: ColumnDeclaration<number> = (path, description) => field('money', path, description)
/** Hours or units, four decimals. */
export const quantity: ColumnDeclaration<number> = (path, description) => field('quantity', path, description)
export const coordinate: ColumnDeclaration<number> = (path, description) =>
  field('coordinate', path, description)
export const flag: ColumnDeclaration<boolean> = (path, description) => field('boolean', path, description)
export const timestamp: ColumnDeclaration<string> = (path, description) =>
  field('timestamp', path, description)
/** A day the service writes as DD/MM/YYYY, empty when absent. */
export const dayMonthYear: ColumnDeclaration<string> = (path, description) =>
  field('dayMonthYear', path, description)
/** A value that the contract does not show: stored as JSON, with its leaves in attribute_leaf. */
export const json: ColumnDeclaration<unknown> = (path, description) => field('json', path, description)

/** The id that every row needs; a record without it is quarantined. */
export const id: ColumnDeclaration<string> = (path, description) => ({
  ...text(path, description),
  required: true,
})

export const personal = <Any extends Column>(column: Any): Any => ({ ...column, privacy: 'personal' })
export const restricted = <Any extends Column>(column: Any): Any => ({ ...column, privacy: 'restricted' })
/** Text that people typed, which may name any person. */
export const freeText: ColumnDeclaration<string> = (path, description) => ({
  ...text(path, description),
  privacy: 'freeText',
})
/** A link to a file: stored without its query string, which would open the file. */
export const fileUrl: ColumnDeclaration<string> = (path, description) =>
  restricted(field('url', path, description))

/** An id of a record that can only be read by id. A reference to the dimension of such records needs no `idOf`. */
export const idOf = <Any extends Column>(resource: string, column: Any, where?: string): Any => ({
  ...column,
  names: { resource, ...(where !== undefined && { where }) },
})

/** Declares that a change of the record with this column signals a change of another record. */
export const related = <Any extends Column>(column: Any, ...relations: readonly ChangeRelation[]): Any => ({
  ...column,
  relations,
})
export const untyped = <Any extends Column>(column: Any): Any => ({ ...column, isUntyped: true })
export const volatile = <Any extends Column>(column: Any): Any => ({ ...column, volatile: true })
export const bookkeeping = <Any extends Column>(column: Any): Any => ({ ...column, bookkeeping: true })

/** A closed list in the contract; a new value is kept and reported. */
export function oneOf<const At extends string>(
  path: At,
  values: readonly string[],
  description: string,
): Column<FieldLeaf<At, string>> {
  return { ...text(path, description), values }
}

/**
 * A reference to a dimension row, `'-1'` when the record names none. `attributes` maps columns of that dimension
 * to fields of this record, so that a member which no endpoint returns still has its name.
 */
export function ref<const At extends string, const Also extends string = never>(
  path: At,
  dimension: string,
  attributes: Readonly<Record<string, Also>> = {},
): Column<FieldLeaf<At | Also, string>> {
  const sources = Object.entries(attributes).map(([name, at]): [string, ColumnSource] => [
    name,
    { from: 'field', path: split(at) },
  ])
  return {
    ...text(path, `The ${nounOf(dimension)}, or '-1' when the record names none.`),
    member: { dimension, attributes: Object.fromEntries(sources) },
  }
}

/** A `{id, name}` object of the contract. */
export function named<const At extends string>(
  path: At,
  dimension: string,
): Column<FieldLeaf<PathBelow<At>, string>> {
  const below = path === '' ? '' : `${path}.`
  return ref(`${below}id` as PathBelow<At>, dimension, { name: `${below}name` as PathBelow<At> })
}

type PathBelow<At extends string> = At extends '' ? 'id' | 'name' : `${At}.${'id' | 'name'}`

function placed(source: ColumnSource, type: ColumnType, description: string): Column {
  return { type, source, description, privacy: 'open' }
}

export const scope = (name: string, description: string): Column =>
  placed({ from: 'scope', name }, 'text', description)
export const ofRoot = (column: string, type: ColumnType = 'text'): Column =>
  placed({ from: 'root', column }, type, `The ${nounOf(column)} of the record that this row belongs to.`)
export const ofParent = (column: string): Column =>
  placed({ from: 'parent', column }, 'text', `The ${nounOf(column)} that this row belongs to.`)
export const ordinal = (description = 'Position in the list, from 1.', depth = 0): Column =>
  placed({ from: 'ordinal', depth }, 'integer', description)
export const constant = (value: string, description: string): Column =>
  placed({ from: 'constant', value }, 'text', description)
export const derived = (type: ColumnType, sql: string, description: string): Column =>
  placed({ from: 'derived', sql }, type, description)

interface ListFigure extends Pick<ListSource, 'take' | 'where'> {
  /** `agencies[].offered` is that field of every agency; `a[].b[].c` is a list inside a list; a count ends in []. */
  readonly of: string
}

/** A figure of a list inside the record. NULL if there is no list, or if none of its elements has the field. */
export function ofList(type: ColumnType, { of: path, ...elements }: ListFigure, description: string): Column {
  const [first = [], ...deeper] = path.split(/\[\]\.?/).map(split)
  const lists = [first, ...deeper.slice(0, -1)] as const
  return placed({ from: 'list', lists, path: deeper.at(-1) ?? [], ...elements }, type, description)
}

const counted = ({ at, count }: CountedDay, description: string): Column =>
  placed({ from: 'derived', sql: count(at, stageDays), dayOf: { at, count } }, 'day', description)

/** The calendar day, in the reporting zone, of something that happened. */
export const dayOf = (at: string, description: string): Column =>
  counted({ at, count: dayInZone }, description)

/** The calendar day that the service writes as a moment: the same in every reporting zone. */
export const dayWrittenIn = (at: string, description: string): Column =>
  counted({ at, count: dayWritten }, description)

/** Builds a key from other columns: md5 of their text joined by '|', the same on both engines. */
export function keyOf(...columns: string[]): Column {
  const parts = columns.map(column => `cast(${column} as varchar)`).join(', ')
  return derived('text', `md5(concat_ws('|', ${parts}))`, `md5 of ${columns.join(', ')}.`)
}

/** SQL for the days from one timestamp column to another, fractions included. */
export const elapsedDays = (from: string, to: string): string =>
  `cast((epoch(${to}) - epoch(${from})) / 86400.0 as decimal(18, 8))`
