/** Describes a page as returned: its total, and what a scan reads from its records. */
import { spanOf } from './times.ts'

/** What earlier scans have read: an incremental scan stops when it gets there. */
export interface KnownTimes {
  /** Everything older than this is known; milliseconds since the epoch. */
  readonly before: number
  /** The stored watermark: if the last page does not reach it, there are more pages. Milliseconds since the epoch. */
  readonly reached?: number
}

/** A page as returned. */
export interface PageFacts {
  readonly page: number
  readonly total: number
  /** Rows of a full page, as the service reports. */
  readonly limit?: number
  readonly empty: boolean
  /** Earliest and latest updatedAt on the page; absent when not read or when the page is empty. */
  readonly oldest?: string
  readonly newest?: string
  /** False when rows are not in ascending order of updatedAt: then an old row proves nothing. */
  readonly inOrder?: boolean
  /** Rows on the page; absent when not counted. */
  readonly rows?: number
  /** Rows that are older than what is known. */
  readonly old?: number
}

export interface FactsOptions {
  /** Name of the field with the change time; undefined if records have none. */
  readonly updatedAt: string | undefined
  readonly known: KnownTimes | undefined
  /** By the local clock, in milliseconds since the epoch. */
  readonly now: number
}

type RowFacts = Pick<PageFacts, 'rows' | 'oldest' | 'newest' | 'inOrder' | 'old'>

const isOlder = (record: unknown, field: string, before: number): boolean =>
  Date.parse(String((record as Record<string, unknown> | null)?.[field])) < before

export function factsOf(records: readonly unknown[], { updatedAt, known, now }: FactsOptions): RowFacts {
  return {
    rows: records.length,
    ...(updatedAt !== undefined && spanOf(records, updatedAt, now)),
    ...(updatedAt !== undefined &&
      known !== undefined && { old: records.filter(one => isOlder(one, updatedAt, known.before)).length }),
  }
}
