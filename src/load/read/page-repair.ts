/** Makes pages readable that DuckDB would refuse, and names the records whose text no engine stores. */
import { isUtf8 } from 'node:buffer'
import { closeSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { type PageFile, positionsPerPage, type RowsAt } from './pages.ts'

/** A record that cannot be loaded because of its text. */
export interface PageTrouble {
  /** The locator of the record in its batch. */
  readonly locator: number
  readonly page: PageFile
  readonly payload: string
  readonly reason: string
}

/** The page's bytes are no JSON: nothing of it can be loaded, and the scan has to ask for it again. */
export class PageUnreadable extends Error {
  readonly page: PageFile

  constructor(page: PageFile, cause: unknown) {
    super(`the page is not JSON: ${page.file}`, { cause })
    this.name = 'PageUnreadable'
    this.page = page
  }
}

/** Escapes that may stand for NUL, which PostgreSQL cannot store, or for half a surrogate pair, which is no text at all. */
const unstorableEscape = /\\u(0000|d[89a-f])/i

/** Matches every escape of a JSON text in turn, so that an escaped backslash never counts as the start of one. */
const escapes = /\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\u([0-9a-f]{4})|\\./gis

function harmless(text: string): string {
  return text.replace(escapes, (whole: string, ...groups: (string | undefined)[]) =>
    /^(0000|d[89a-f])/i.test(groups[2] ?? '') ? '\\ufffd' : whole,
  )
}

function unstorable(record: unknown, broken: boolean): string | undefined {
  const text = JSON.stringify(record) ?? ''
  if (/(?<!\\)(\\\\)*\\u0000/.test(text)) return 'text with a NUL character'
  // JSON.stringify writes an escape for a surrogate only when it stands alone.
  if (/(?<!\\)(\\\\)*\\ud[89a-f]/i.test(text)) return 'text with half a surrogate pair'
  return broken && text.includes('\ufffd') ? 'bytes that are not UTF-8' : undefined
}

function rowsOf(body: { readonly data?: unknown }, rows: RowsAt): unknown[] {
  if (rows === 'data') return Array.isArray(body.data) ? body.data : []
  if (rows === 'data as one record') return [body.data]
  const entries = (body.data as { entries?: unknown } | undefined)?.entries
  return Array.isArray(entries) ? entries : []
}

function parse(page: PageFile, text: string): { readonly data?: unknown } {
  try {
    return JSON.parse(text) as { readonly data?: unknown }
  } catch (error) {
    throw new PageUnreadable(page, error)
  }
}

function troubleOn(page: PageFile, number: number, records: readonly unknown[]): PageTrouble[] {
  return records.flatMap((record, index) => {
    const reason = unstorable(record, !isUtf8(readFileSync(page.file)))
    const locator = number * positionsPerPage + index + 1
    return reason ? [{ locator, page, payload: JSON.stringify(record), reason }] : []
  })
}

export interface Readable {
  readonly pages: PageFile[]
  readonly trouble: readonly PageTrouble[]
  /** Whether true or false stands anywhere behind the head of a page, be it within a text. */
  readonly hasBooleans: boolean
  cleanUp(): void
}

function hasBooleans(bytes: Buffer): boolean {
  const data = Math.max(0, bytes.indexOf('"data"'))
  return bytes.includes('true', data) || bytes.includes('false', data)
}

/** Reads one file after the other into the same buffer; each overwrites the one before. */
function createReader(): (page: PageFile) => Buffer {
  let room = Buffer.alloc(0)
  return ({ file, bytes }) => {
    if (room.length < bytes) room = Buffer.allocUnsafeSlow(bytes)
    const opened = openSync(file, 'r')
    try {
      let end = 0
      while (end < bytes) {
        const more = readSync(opened, room, end, bytes - end, null)
        if (more === 0) break
        end += more
      }
      return room.subarray(0, end)
    } finally {
      closeSync(opened)
    }
  }
}

const lineFeed = 10

/** A service that indents its JSON breaks its lines; a line feed inside a text is always escaped. */
function isLine(bytes: Buffer): boolean {
  const at = bytes.indexOf(lineFeed)
  return at === -1 || at === bytes.length - 1
}

/**
 * Most pages pass through untouched after one scan of their bytes; `cleanUp` removes the copies of the others.
 * Throws PageUnreadable for such a page that is no JSON.
 */
export function readablePages(pages: readonly PageFile[], rows: RowsAt): Readable {
  const trouble: PageTrouble[] = []
  const copies: string[] = []
  let booleans = false
  const read = createReader()
  const readable = pages.map((page, index) => {
    const bytes = read(page)
    const whole = isUtf8(bytes)
    booleans ||= hasBooleans(bytes)
    const hasUnstorable = bytes.includes('\\u') && unstorableEscape.test(bytes.toString('latin1'))
    const asRead = { ...page, isLine: isLine(bytes) }
    if (whole && !hasUnstorable) return asRead
    const text = bytes.toString('utf8')
    const found = troubleOn(page, index + 1, rowsOf(parse(page, text), rows))
    if (found.length === 0 && whole) return asRead
    trouble.push(...found)
    const file = `${page.file}.readable`
    const copy = harmless(text)
    writeFileSync(file, copy)
    copies.push(file)
    return { ...asRead, file, bytes: Buffer.byteLength(copy) }
  })
  return {
    pages: readable,
    trouble,
    hasBooleans: booleans,
    cleanUp() {
      for (const copy of copies) rmSync(copy, { force: true })
    },
  }
}

/** The records of a page, parsed. Throws PageUnreadable. */
export const recordsOf = (page: PageFile, rows: RowsAt): unknown[] =>
  rowsOf(parse(page, readFileSync(page.file, 'utf8')), rows)

/** The error that names the page that DuckDB could not parse; undefined when all of them are JSON. */
export function unreadableAmong(pages: readonly PageFile[]): PageUnreadable | undefined {
  for (const page of pages) {
    try {
      parse(page, readFileSync(page.file, 'utf8'))
    } catch (error) {
      if (error instanceof PageUnreadable) return error
      throw error
    }
  }
  return undefined
}
