/** Landed pages as records: read straight into their declared type, or as JSON first. */

import type { Snapshot } from '../../contract/fields/resource.ts'
import { asPattern } from '../../lib/input-file.ts'
import type { StoredPage } from '../../lib/stored-page.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { numberKey } from '../page/joined-pages.ts'

/** One landed page. */
export interface PageFile extends StoredPage {
  readonly bytes: number
  /** The number that was asked for, where pages have numbers. */
  readonly page?: number
  /** When it was fetched, ISO 8601. */
  readonly fetchedAt: string
  readonly runId: string
  /** What the request asked for, such as company_id, by scope column. */
  readonly scope: Readonly<Record<string, string>>
  /** The service has been asked for it twice. */
  readonly wasReadAgain?: boolean
  /** Of a scan that counts what it sees: the pass that asked for the page, and whether the pass began with it. */
  readonly pass?: number
  readonly isFront?: boolean
  /** Whether the file is known to be a single line; it is read faster then. */
  readonly isLine?: boolean
  /** A file with the pages of the whole batch, a line each; see JoinedPages. */
  readonly joined?: string
}

export type RowsAt = Snapshot['rows']

/** The locator of a record in its batch is the page number (from 1) times this, plus its position on the page. */
export const positionsPerPage = 1_048_576

const readers: Record<RowsAt, { readonly type: string; readonly list: string }> = {
  data: { type: 'JSON[]', list: 'data' },
  'data.entries': { type: 'JSON', list: `json_extract(data, '$.entries[*]')` },
  'data as one record': { type: 'JSON', list: '[data]' },
}

/** A number per page, or null, of the page with this number. */
export function perPageNumber(
  pages: readonly PageFile[],
  value: (page: PageFile) => number | undefined,
  number: string,
): string {
  return `cast([${pages.map(page => value(page) ?? 'null').join(', ')}] as bigint[])[${number}]`
}

/** A value per page, as a list. */
export const listed = (pages: readonly PageFile[], value: (page: PageFile) => string): string =>
  `[${pages.map(page => quoteText(value(page))).join(', ')}]`

/** The value of the page with this number. */
export function perPage(
  pages: readonly PageFile[],
  value: (page: PageFile) => string,
  number = 'page',
): string {
  return `${listed(pages, value)}[${number}]`
}

/** DuckDB refuses larger texts, and reserves a buffer of twice this size a thread; less than 16 MiB is not possible. */
const objectSize = (bytes: readonly number[]): number => Math.max(16_777_216, ...bytes.map(one => one + 1024))

/** The rows of a file with an object a line, the longest of so many bytes. */
export function readLines(file: string, columns: Readonly<Record<string, string>>, longest: number): string {
  const typed = Object.entries(columns).map(([name, type]) => `${name}: ${quoteText(type)}`)
  return `read_json([${quoteText(asPattern(file))}], columns = {${typed.join(', ')}}, records = 'true',
    format = 'newline_delimited', maximum_object_size = ${objectSize([longest])})`
}

/**
 * A row a page: page (from 1) and `list`, an expression over `data`, which is read as the given type.
 *
 * With `records` DuckDB does not sample the pages when the statement is bound, and with `newline_delimited` it does not look
 * for the closing brace: 17 ms instead of 62 for the ids on 14 MB of pages.
 */
function readPages(pages: readonly PageFile[], { type, list }: { type: string; list: string }): string {
  const longest = `maximum_object_size = ${objectSize(pages.map(({ bytes }) => bytes))}`
  const joined = pages[0]?.joined
  if (joined)
    return `select ${quoteName(numberKey)} as page, ${list} as list
      from read_json(${quoteText(asPattern(joined))}, columns = {data: ${quoteText(type)}, ${quoteName(numberKey)}: 'BIGINT'},
        records = 'true', format = 'newline_delimited', ${longest})`
  const format = pages.every(({ isLine }) => isLine) ? 'newline_delimited' : 'unstructured'
  const files = listed(pages, page => page.file)
  return `select list_position(${files}, filename) as page, ${list} as list
    from read_json(${listed(pages, page => asPattern(page.file))}, columns = {data: ${quoteText(type)}}, filename = true,
      records = 'true', format = '${format}', ${longest})`
}

/**
 * Columns page (from 1), j (the record as JSON) and locator. (read_text and json_extract are as fast, but use one thread when
 * the rows go into a table.)
 */
export function elements(pages: readonly PageFile[], rows: RowsAt): string {
  return `select page, j, page * ${positionsPerPage} + position as locator from (
    select page, unnest(list) as j, generate_subscripts(list, 1) as position from (${readPages(pages, readers[rows])}))`
}

/**
 * `typed` reads bytes straight into the declared type, on every thread, and fails as a whole when a record has another
 * structure. `json` parses each record first, a third as fast; values that do not fit become NULL, which the cast check
 * finds.
 */
export interface Reader {
  readonly kind: 'typed' | 'json'
  /** The type that numbers are read as. DOUBLE takes half the time, but reads true as 1. */
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
      ${readPages(pages, { type: column(type), list })}))`
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
