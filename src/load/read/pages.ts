/** Reads landed pages as records: directly into their declared type, or as JSON first. */

import type { Snapshot } from '../../contract/fields/resource.ts'
import { asPattern } from '../../lib/input-file.ts'
import type { StoredPage } from '../../lib/stored-page.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { numberKey } from '../page/joined-pages.ts'

export interface PageFile extends StoredPage {
  readonly bytes: number
  /** The requested page number, if the list has numbered pages. */
  readonly page?: number
  /** ISO 8601. */
  readonly fetchedAt: string
  readonly runId: string
  /** Parameters of the request, such as company_id, by scope column. */
  readonly scope: Readonly<Record<string, string>>
  /** The page has been fetched twice. */
  readonly wasReadAgain?: boolean
  /** For a scan that counts what it sees: the pass that requested the page, and whether the page was its first. */
  readonly pass?: number
  readonly isFront?: boolean
  /** Whether the file is known to be a single line, which reads faster. */
  readonly isLine?: boolean
  /** A file with all pages of the batch, one on each line; see JoinedPages. */
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

/** Looks up a number by page, or null, for the page with this number. */
export function perPageNumber(
  pages: readonly PageFile[],
  value: (page: PageFile) => number | undefined,
  number: string,
): string {
  return `cast([${pages.map(page => value(page) ?? 'null').join(', ')}] as bigint[])[${number}]`
}

/** A list with a value for each page. */
export const listed = (pages: readonly PageFile[], value: (page: PageFile) => string): string =>
  `[${pages.map(page => quoteText(value(page))).join(', ')}]`

/** The value for the page with this number. */
export function perPage(
  pages: readonly PageFile[],
  value: (page: PageFile) => string,
  number = 'page',
): string {
  return `${listed(pages, value)}[${number}]`
}

/** DuckDB refuses larger texts, and reserves twice this size for each thread; the minimum is 16 MiB. */
const objectSize = (bytes: readonly number[]): number => Math.max(16_777_216, ...bytes.map(one => one + 1024))

/** Reads a file with one object on each line; `longest` is the length of the longest line in bytes. */
export function readLines(file: string, columns: Readonly<Record<string, string>>, longest: number): string {
  const typed = Object.entries(columns).map(([name, type]) => `${name}: ${quoteText(type)}`)
  return `read_json([${quoteText(asPattern(file))}], columns = {${typed.join(', ')}}, records = 'true',
    format = 'newline_delimited', maximum_object_size = ${objectSize([longest])})`
}

/**
 * A row for each page: page (from 1) and `list`, an expression over `data`, which is read as the given type.
 *
 * With `records`, DuckDB does not sample the pages when it binds the statement. With `newline_delimited`, it does not
 * search for the closing brace. The ids on 14 MB of pages take 17 ms instead of 62.
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
 * Columns page (from 1), j (the record as JSON) and locator. (read_text and json_extract are as fast, but use only one
 * thread when the rows go into a table.)
 */
export function elements(pages: readonly PageFile[], rows: RowsAt): string {
  return `select page, j, page * ${positionsPerPage} + position as locator from (
    select page, unnest(list) as j, generate_subscripts(list, 1) as position from (${readPages(pages, readers[rows])}))`
}

/**
 * `typed` reads bytes directly into the declared type, on every thread; `json` parses each record first, at a third of
 * the speed. Both rely on the page search, which has refused every value not of its form.
 */
export interface PageReader {
  readonly kind: 'typed' | 'json'
  /** See PagesSource. */
  readonly hasLong: boolean
  /** Columns page (from 1), locator, and record (the struct); for JSON also j (the record as received). */
  records(type: string): string
}

interface PagesSource {
  readonly pages: readonly PageFile[]
  readonly rows: RowsAt
  /** Whether a page has a number too long for DuckDB to convert to a decimal exactly. */
  readonly hasLong: boolean
}

/** Where the records are below `data`, in a column of the given type. */
const places: Readonly<Record<RowsAt, { column(type: string): string; readonly list: string }>> = {
  data: { column: type => `${type}[]`, list: 'data' },
  'data.entries': { column: type => `STRUCT(entries ${type}[])`, list: 'data.entries' },
  'data as one record': { column: type => type, list: '[data]' },
}

function typedRecords({ pages, rows }: PagesSource, type: string): string {
  const { column, list } = places[rows]
  return `select page, page * ${positionsPerPage} + position as locator, record from (
    select page, unnest(list) as record, generate_subscripts(list, 1) as position from (
      ${readPages(pages, { type: column(type), list })}))`
}

export function typedReader(source: PagesSource): PageReader {
  return {
    kind: 'typed',
    hasLong: source.hasLong,
    records: type => typedRecords(source, type),
  }
}

export function jsonReader({ pages, rows, hasLong }: PagesSource): PageReader {
  return {
    kind: 'json',
    hasLong,
    records: type =>
      `select page, locator, j, try_cast(j as ${type}) as record from (${elements(pages, rows)})`,
  }
}
