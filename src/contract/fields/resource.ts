/** Defines a resource: records of one kind under one path of the service, how they are read, and their table. */
import type { Table } from './table.ts'

/** A list read page by page, sorted by updatedAt, from the last page to the first. */
export interface Scan {
  readonly strategy: 'scan'
  /** Parameters that restrict a scan to records changed since a day, where the service has such a filter. */
  readonly changedSince?: Readonly<Record<string, string>>
  /** Column of the time that the service's filter uses by default; the creation time if absent. */
  readonly filteredByDefault?: string
  /** Parameters that cut the list into windows of created dates; absent where there is no such filter. */
  readonly createdBetween?: Readonly<Record<string, string>>
}

/** A list read completely; rows missing from the answer are marked as deleted. */
export interface Snapshot {
  readonly strategy: 'snapshot'
  /** What a snapshot covers: all that the key can read, a company, a project of a company, or a date window of a company. */
  readonly per: 'key' | 'company' | 'companyProject' | 'companyWindow'
  /** Where the rows are: `data` is the list, or holds a list, or is one record. */
  readonly rows: 'data' | 'data.entries' | 'data as one record'
  /** Sort orders of the list, one for each pass in turn: records that tie in one seldom tie in the next. */
  readonly orders?: readonly Readonly<Record<string, string>>[]
  /** Projects and date windows are read again only after this many days. */
  readonly refreshDays?: number
}

/** Records without a list: fetched by id, and the id comes from another record or from an event. */
export interface ById {
  readonly strategy: 'byId'
}

/** The endpoint that returns one record; its id replaces {id} in the path. */
export interface SingleRead {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
}

export type KeyKind = 'company' | 'agency'

/** How a key reads a resource: its list, single records whose ids other records name, or not at all. */
export type ReadWay = 'list' | 'by id' | 'not at all'

export interface Resource<Row = unknown> {
  /** Plural name on the command line and in ops tables, e.g. timesheets. */
  readonly name: string
  /** Singular name of a record, as event types and star.attribute_leaf spell it. */
  readonly entity: string
  readonly description: string
  /** Below the base URL; {company} is filled from the scope, {id} with the id of a record. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly read: Scan | Snapshot | ById
  /** The endpoint for one record of a list, where there is one. */
  readonly single?: SingleRead
  /** A sync skips a resource that its kind of key cannot read, without sending a request. */
  readonly keys: Readonly<Record<KeyKind, ReadWay>>
  /** Fields that order the versions of one record: updatedAt first, then a version number where there is one. */
  readonly updatedAt?: string
  readonly version?: string
  /** Metric of the service that is computed from these records: mart.data_health counts what the crosscheck found. */
  readonly metric?: 'timeToFill' | 'workersOverHours'
  /**
   * Portable SQL with a row for each record that should be stored, where no list gives a total: mart.data_health compares
   * their number. A dimension read by id needs none: its inferred members should all be read.
   */
  readonly expected?: string
  readonly table: Table<Row>
}

interface Optional {
  readonly query?: Resource['query']
  /** For kinds of keys that read it in another way. */
  readonly keys?: Partial<Resource['keys']>
}

export function resource<Row>(declaration: Omit<Resource<Row>, keyof Optional> & Optional): Resource<Row> {
  const way = declaration.read.strategy === 'byId' ? 'by id' : 'list'
  return { query: {}, ...declaration, keys: { company: way, agency: way, ...declaration.keys } }
}

/** A resource with a list, which a sync reads from beginning to end. */
export interface Collection extends Resource {
  readonly read: Scan | Snapshot
}

export const isCollection = (one: Resource): one is Collection => one.read.strategy !== 'byId'

/** The endpoint for one record; undefined where the service has none. */
export function singleRead({ read, path, query, single }: Resource): SingleRead | undefined {
  return read.strategy === 'byId' ? { path, query } : single
}

/** The resource as this kind of key reads it; undefined when it cannot. */
export function asReadBy(one: Resource, kind: KeyKind): Resource | undefined {
  const way = one.keys[kind]
  if (way === 'not at all') return undefined
  return way === 'by id' && one.single ? { ...one, ...one.single, read: { strategy: 'byId' } } : one
}

/** Why a sync skips the resource. */
export const cannotRead = ({ keys }: Resource, kind: KeyKind): string =>
  keys[kind] === 'by id' ? `${kind} keys read it by id only` : `${kind} keys cannot read it`

/** Where the records are in the pages of a resource. */
export function rowsAt({ read }: Resource): Snapshot['rows'] {
  if (read.strategy === 'byId') return 'data as one record'
  return read.strategy === 'snapshot' ? read.rows : 'data'
}
