/** What the service holds under one path, how it is read, and the rows it becomes. */
import type { Table } from './table.ts'

/** Read by walking pages sorted by updatedAt, from the last to the first. */
export interface Walk {
  readonly strategy: 'walk'
  /** Parameters that narrow a walk to what changed since a day, where the service has such a filter. */
  readonly changedSince?: Readonly<Record<string, string>>
  /** Parameters that cut the collection into windows by created date; absent where there is no such filter. */
  readonly createdBetween?: Readonly<Record<string, string>>
}

/** Read whole; rows that are gone from the answer are gone from the warehouse. */
export interface Snapshot {
  readonly strategy: 'snapshot'
  /** What one snapshot covers: the whole key, each company, each project of each company, or a date window of each company. */
  readonly per: 'key' | 'company' | 'companyProject' | 'companyWindow'
  /** Where the rows stand in `data`: the list itself, or a list inside a single object. */
  readonly rows: 'data' | 'data.entries' | 'data as one record'
  /** Scopes other than the first kind are read again only after this many days. */
  readonly refreshDays?: number
}

/** Read one by one: the service has no list of them, so that an id must come from another record or an event. */
export interface Hydrate {
  readonly strategy: 'hydrate'
}

/** A read of one record by its id, which stands for {id} in the path. */
export interface SingleRead {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
}

export interface Resource<Row = unknown> {
  /** Plural name on the command line and in ops tables, e.g. timesheets. */
  readonly name: string
  /** Singular name of the record, as webhooks and attribute_leaf call it. */
  readonly entity: string
  readonly description: string
  /** Below the base URL; {company} is filled from the scope, {id} with the id of a record. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly read: Walk | Snapshot | Hydrate
  /** How one record of a list is read by its id, where the service has that. */
  readonly single?: SingleRead
  /** Agency keys cannot read some collections: skipped without spending a request. */
  readonly keys: 'any' | 'company'
  /** Fields that order versions of one record: updatedAt first, then a version number when there is one. */
  readonly updatedAt?: string
  readonly version?: string
  readonly table: Table<Row>
}

type Optional = 'query' | 'keys'

export function resource<Row>(
  declaration: Omit<Resource<Row>, Optional> & Partial<Pick<Resource, Optional>>,
): Resource<Row> {
  return { query: {}, keys: 'any', ...declaration }
}

/** What a sync reads from beginning to end: all but what is read by id only. */
export interface Collection extends Resource {
  readonly read: Walk | Snapshot
}

export const isCollection = (one: Resource): one is Collection => one.read.strategy !== 'hydrate'

/** The read of one record by its id; undefined where the service has none. */
export function singleRead({ read, path, query, single }: Resource): SingleRead | undefined {
  return read.strategy === 'hydrate' ? { path, query } : single
}

/** Where the records stand in the pages of a resource. */
export function rowsAt({ read }: Resource): Snapshot['rows'] {
  if (read.strategy === 'hydrate') return 'data as one record'
  return read.strategy === 'snapshot' ? read.rows : 'data'
}
