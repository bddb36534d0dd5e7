/** Makes pages readable that DuckDB would refuse, names the records that cannot be loaded, and finds undeclared fields. */
import { isUtf8 } from 'node:buffer'
import { closeSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { NotJson } from '../page/json-bytes.ts'
import type { KnownNode } from '../page/known-fields.ts'
import { LeafFile } from '../page/leaf-file.ts'
import { contradiction, type RecordSlice, recordsOn, type UndeclaredField } from '../page/page-fields.ts'
import { withStandIns } from '../page/stand-ins.ts'
import type { Undeclared } from '../page/undeclared-leaves.ts'
import { harmless, hasUnstorable, whyUnstorable } from '../page/unstorable.ts'
import { type PageFile, positionsPerPage, type RowsAt } from './pages.ts'

/** A record that cannot be loaded. */
export interface PageTrouble {
  /** The locator of the record in its batch. */
  readonly locator: number
  readonly page: PageFile
  /** Its JSON as it was received. */
  readonly payload: string
  readonly reason: string
}

/** Pages that cannot be loaded as they are: the scan has to ask for them again. */
export class PageUnreadable extends Error {
  readonly page: PageFile
  readonly pages: readonly PageFile[]

  constructor(pages: readonly [PageFile, ...PageFile[]], cause: unknown) {
    const why = cause instanceof Error ? cause.message.split('\n')[0] : String(cause)
    super(`a page cannot be loaded: ${pages[0].file}: ${why}`, { cause })
    this.name = 'PageUnreadable'
    this.page = pages[0]
    this.pages = pages
  }
}

/** Records to leave out, with the reason, by file and position from 1. A file without a record is searched for broken ones. */
export type LeftOut = ReadonlyMap<string, ReadonlyMap<number, string>>

export interface Pages {
  readonly pages: readonly PageFile[]
  readonly rows: RowsAt
  /** The declared fields. */
  readonly known: KnownNode
  readonly leftOut?: LeftOut
}

export interface Readable {
  readonly pages: PageFile[]
  readonly trouble: readonly PageTrouble[]
  /** Whether true or false stands anywhere behind the head of a page, be it within a text. */
  readonly hasBooleans: boolean
  /** Undeclared fields, for the report. */
  readonly undeclared: readonly Undeclared[]
  /** A select of the leaves of undeclared fields; see LeafFile. */
  readonly leaves: string | undefined
  cleanUp(): void
}

/** json_tree writes the path of every value: a record of 100,000 levels would take 10 GB. */
const mostLevels = 2000

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

/** The JSON of a record without its undeclared fields, which are kept as JSON where they have to be. */
function declaredText(bytes: Buffer, { start, end, undeclared }: RecordSlice): string {
  const edges = [start, ...undeclared.flatMap((field: UndeclaredField) => [field.key, field.end]), end]
  const parts = edges.flatMap((from, index) =>
    index % 2 === 0 ? [bytes.toString('utf8', from, edges[index + 1])] : [],
  )
  return parts.join(' ')
}

function whyNot(bytes: Buffer, record: RecordSlice, hasEscapes: boolean): string | undefined {
  if (record.depth > mostLevels) return `nested deeper than ${mostLevels} levels`
  if (!isUtf8(bytes.subarray(record.start, record.end))) return 'bytes that are not UTF-8'
  const key = contradiction(bytes, record)
  if (key !== undefined) return `${JSON.stringify(key)} has several values in one object`
  return hasEscapes ? whyUnstorable(declaredText(bytes, record)) : undefined
}

/** The pages of one batch, one after the other. */
class Reading {
  readonly #from: Pages
  readonly #copies: string[] = []
  readonly #leaves: LeafFile
  readonly trouble: PageTrouble[] = []
  hasBooleans = false

  constructor(from: Pages) {
    this.#from = from
    this.#leaves = new LeafFile(`${from.pages[0]?.file}.leaves`)
    this.#leaves.remove()
  }

  get undeclared(): readonly Undeclared[] {
    return this.#leaves.fields
  }

  get leaves(): string | undefined {
    return this.#leaves.rows
  }

  page(page: PageFile, index: number, received: Buffer): PageFile {
    const { rows, leftOut } = this.#from
    const left = leftOut?.get(page.file)
    const copy = left && withStandIns(received, rows, left)
    for (const { position, payload, reason } of copy?.replaced ?? [])
      this.trouble.push({ locator: (index + 1) * positionsPerPage + position, page, payload, reason })
    const bytes = copy?.bytes ?? received
    this.hasBooleans ||= hasBooleans(bytes)
    const isChanged = this.#look(page, index, bytes)
    const asRead = { ...page, isLine: isLine(bytes) }
    if (!isChanged && !copy) return asRead
    return this.#copy(asRead, isChanged ? Buffer.from(harmless(bytes.toString('utf8'))) : bytes)
  }

  /** Whether the page has text that DuckDB would refuse. */
  #look(page: PageFile, index: number, bytes: Buffer): boolean {
    const isOdd = !isUtf8(bytes)
    const hasEscapes = hasUnstorable(bytes)
    const records = this.#records(page, bytes)
    for (const [place, record] of records.entries()) {
      const locator = (index + 1) * positionsPerPage + place + 1
      const { start, end, depth, undeclared } = record
      const mayBeRefused = isOdd || hasEscapes || depth > mostLevels || record.repeated.length > 0
      const reason = mayBeRefused ? whyNot(bytes, record, hasEscapes) : undefined
      if (reason) this.trouble.push({ locator, page, payload: bytes.toString('utf8', start, end), reason })
      else if (undeclared.length > 0) this.#leaves.add(bytes, locator, record)
    }
    this.#leaves.flush()
    return isOdd || hasEscapes
  }

  #records(page: PageFile, bytes: Buffer): readonly RecordSlice[] {
    try {
      return recordsOn(bytes, this.#from.rows, this.#from.known)
    } catch (error) {
      if (error instanceof NotJson) throw new PageUnreadable([page], error)
      throw error
    }
  }

  #copy(page: PageFile, bytes: Buffer): PageFile {
    const file = `${page.file}.readable`
    writeFileSync(file, bytes, { mode: 0o600 })
    this.#copies.push(file)
    return { ...page, file, bytes: bytes.length }
  }

  cleanUp(): void {
    for (const copy of this.#copies) rmSync(copy, { force: true })
    this.#leaves.remove()
  }
}

/**
 * Most pages pass through untouched after one search of their bytes; `cleanUp` removes the copies of the others.
 * Throws PageUnreadable for a page whose structure is no JSON.
 */
export function readablePages(from: Pages): Readable {
  const reading = new Reading(from)
  const read = createReader()
  try {
    const pages = from.pages.map((page, index) => reading.page(page, index, read(page)))
    const { trouble, hasBooleans, undeclared, leaves } = reading
    return { pages, trouble, hasBooleans, undeclared, leaves, cleanUp: () => reading.cleanUp() }
  } catch (error) {
    reading.cleanUp()
    throw error
  }
}

/** The pages that are no JSON. */
export function unreadableAmong(pages: readonly PageFile[]): PageFile[] {
  return pages.filter(({ file }) => {
    try {
      JSON.parse(readFileSync(file, 'utf8'))
      return false
    } catch (error) {
      if (error instanceof SyntaxError) return true
      throw error
    }
  })
}
