/** Declares the entries of the dictionary: every table and column of a warehouse, and where its values come from. */
import type { SchemaName } from '../warehouse/schema/schemas.ts'

/**
 * R0 open. R1 pseudonymous: about a person known by id only. R2 personal, R3 restricted and free text: only in pii.
 * Internal: tables of ops that the published copy leaves out.
 */
export type PrivacyClass = 'open' | 'pseudonymous' | 'personal' | 'restricted' | 'free text' | 'internal'

/** Qualified names, such as star.dim_worker and its key. */
export interface ReferenceTarget {
  readonly table: string
  readonly column: string
}

export interface ColumnEntry {
  readonly name: string
  /** As PostgreSQL spells it; DuckDB takes the same words. */
  readonly type: string
  readonly description: string
  readonly unit?: string
  readonly isKey: boolean
  readonly refersTo?: ReferenceTarget
  readonly privacy: PrivacyClass
  /** What the field policy does with its fields; absent if it stores them as they are. */
  readonly treatment?: 'blocked' | 'hashed' | 'partly blocked' | 'partly hashed'
  /** Fields of the service, as `timesheet.worker.id`. */
  readonly fields: readonly string[]
  /** How the value is made from the fields; absent for an unchanged value. */
  readonly made?: 'derived' | 'figure of a list' | 'position in a list' | 'given in the request'
  /**
   * Columns of other tables that the value is computed from, such as `star.fact_timesheet.net_hours`; a table alone
   * where its rows are counted.
   */
  readonly from: readonly string[]
  /** Values the service documents. */
  readonly values: readonly string[]
  /** Whether every row of every table has it. */
  readonly isOfEveryRow: boolean
}

export interface TableEntry {
  readonly schema: SchemaName
  readonly name: string
  readonly kind: 'table' | 'view'
  /** First sentence: the grain. */
  readonly description: string
  readonly columns: readonly ColumnEntry[]
  /** Qualified names of the tables that a view or a mart is computed from. */
  readonly reads: readonly string[]
  /** Names of the resources that fill it. */
  readonly resources: readonly string[]
  readonly isPublished: boolean
  /** The question that a mart answers. */
  readonly question?: string
  /** What a mart assumes. */
  readonly assumption?: string
}

/** A subject area: a resource with its tables, which one diagram shows. */
export interface Area {
  /** As on the command line. */
  readonly resource: string
  readonly entity: string
  readonly description: string
  /** Below the base URL. */
  readonly path: string
  /** Tables of star that its records become, the record's own first. */
  readonly tables: readonly string[]
  /** The column by which each table of a list names its record. */
  readonly owners: ReadonlyMap<string, string>
}

export interface Dictionary {
  readonly version: string
  readonly areas: readonly Area[]
  readonly tables: readonly TableEntry[]
}

export const qualifiedName = ({ schema, name }: Pick<TableEntry, 'schema' | 'name'>): string =>
  `${schema}.${name}`

/** Reverse lineage: the columns that are computed from a column, by its qualified name. */
export function usersOf({ tables }: Dictionary): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>()
  for (const table of tables) {
    for (const column of table.columns) {
      const user = `${qualifiedName(table)}.${column.name}`
      for (const from of column.from) users.set(from, [...(users.get(from) ?? []), user])
    }
  }
  return users
}
