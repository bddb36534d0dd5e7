/** How the records of landed pages become structs of a declared type. */
import { elements, listed, type PageFile, positionsPerPage, type RowsAt, readPages } from './pages.ts'

/**
 * `typed` reads bytes straight into the declared type, on every thread, and fails as a whole when anything has another
 * structure. `json` makes JSON of each record first, a third as fast, and turns what does not fit into NULL, which is
 * then looked for.
 */
export interface Reader {
  readonly kind: 'typed' | 'json'
  /** What numbers are read as. DOUBLE takes half the time, but would read true as 1. */
  readonly numbers: 'DOUBLE' | 'VARCHAR'
  /** Columns page (from 1), locator, record: the struct; in JSON also j: the record as it came. */
  records(type: string): string
}

interface Source {
  readonly pages: readonly PageFile[]
  readonly rows: RowsAt
  /** Whether a page has true or false anywhere in its data. */
  readonly hasBooleans: boolean
}

/** Where the records lie below `data`, in a column of the given type. */
const places: Readonly<Record<RowsAt, { column(type: string): string; readonly list: string }>> = {
  data: { column: type => `${type}[]`, list: 'data' },
  'data.entries': { column: type => `STRUCT(entries ${type}[])`, list: 'data.entries' },
  'data as one record': { column: type => type, list: '[data]' },
}

function typedRecords({ pages, rows }: Source, type: string): string {
  const { column, list } = places[rows]
  return `select page, page * ${positionsPerPage} + position as locator, record from (
    select page, unnest(list) as record, generate_subscripts(list, 1) as position from (
      select list_position(${listed(pages, page => page.file)}, filename) as page, ${list} as list
      from ${readPages(pages, column(type))}))`
}

export function typedReader(source: Source): Reader {
  return {
    kind: 'typed',
    numbers: source.hasBooleans ? 'VARCHAR' : 'DOUBLE',
    records: type => typedRecords(source, type),
  }
}

/**
 * Whether a typed reader failed because records have another structure than the declared one. Any other failure, such as a
 * full disk, would meet the JSON reader as well.
 */
export const isMisfit = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('Invalid Input Error: JSON transform error')

export function jsonReader({ pages, rows }: Source): Reader {
  return {
    kind: 'json',
    numbers: 'VARCHAR',
    records: type =>
      `select page, locator, j, try_cast(j as ${type}) as record from (${elements(pages, rows)})`,
  }
}
