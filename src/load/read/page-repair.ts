/** Makes pages readable for DuckDB, names the records that cannot be loaded, and finds undeclared fields. */
import { isUtf8 } from 'node:buffer'
import { closeSync, openSync, readSync } from 'node:fs'
import { readAtOnce } from '../../lib/input-file.ts'
import { LoopPause } from '../../lib/pause.ts'
import { pageBytes } from '../../lib/stored-page.ts'
import { areSmall, JoinedPages } from '../page/joined-pages.ts'
import { NotJson } from '../page/json-bytes.ts'
import type { KnownNode } from '../page/known-fields.ts'
import { LeafFile } from '../page/leaf-file.ts'
import { type RecordSlice, recordsOn } from '../page/page-fields.ts'
import { type Drift, type Fault, findingsOf, type SearchBounds } from '../page/record-findings.ts'
import { longestPayload } from '../page/record-limits.ts'
import { type Edit, edited, withStandIns } from '../page/stand-ins.ts'
import { harmless, hasUnstorable } from '../page/unstorable.ts'
import { BatchFiles } from './batch-files.ts'
import { type PageFile, positionsPerPage, type RowsAt } from './pages.ts'

/** A record that cannot be loaded. */
export interface PageTrouble {
  /** The record's locator in its batch. */
  readonly locator: number
  readonly page: PageFile
  /** Its JSON as received, or only the beginning if it is too large. */
  readonly payload: string
  readonly faults: readonly Fault[]
}

/** Thrown for pages that cannot be loaded: the scan has to fetch them again. */
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

/**
 * Records to leave out: the reason by file and position from 1. In a file without entries, only broken records are left
 * out.
 */
export type LeftOutRecords = ReadonlyMap<string, ReadonlyMap<number, string>>

export interface PagesToRepair {
  readonly pages: readonly PageFile[]
  readonly rows: RowsAt
  /** The declared fields. */
  readonly known: KnownNode
  readonly leftOut?: LeftOutRecords
  readonly bounds: SearchBounds
}

export interface ReadablePages {
  readonly pages: PageFile[]
  readonly trouble: readonly PageTrouble[]
  /** Whether a page has a number too long for DuckDB to convert to a decimal exactly. */
  readonly hasLong: boolean
  /** Differences from the service's documentation, for the report. */
  readonly drift: readonly Drift[]
  /** Selects the leaves without a column; see LeafFile. */
  readonly leaves: string | undefined
  cleanUp(): void
}

/** Reads files into one shared buffer: each read overwrites the previous one. */
function createReader(): (page: PageFile) => Buffer {
  let room = Buffer.alloc(0)
  return ({ file, within, bytes }) => {
    if (room.length < bytes) room = Buffer.allocUnsafeSlow(bytes)
    const opened = openSync(within?.file ?? file, readAtOnce)
    try {
      let end = 0
      while (end < bytes) {
        const more = readSync(opened, room, end, bytes - end, within ? within.start + end : null)
        if (more === 0) break
        end += more
      }
      return room.subarray(0, end)
    } finally {
      closeSync(opened)
    }
  }
}

/** DuckDB can read only a whole file directly. */
const isPlainFile = ({ within }: PageFile): boolean => !within

const lineFeed = 10

/** Whether the page is a single line, which indented JSON is not; a line feed inside a string is always escaped. */
function isLine(bytes: Buffer): boolean {
  const at = bytes.indexOf(lineFeed)
  return at === -1 || at === bytes.length - 1
}

/** Repairs the pages of one batch, one after the other. */
class PageRepair {
  readonly #from: PagesToRepair
  readonly #files: BatchFiles
  readonly #leaves: LeafFile
  readonly #joined: JoinedPages | undefined
  readonly #drift = new Map<string, Drift>()
  readonly trouble: PageTrouble[] = []
  readonly #pause = new LoopPause()
  hasLong = false

  constructor(from: PagesToRepair) {
    this.#from = from
    this.#files = new BatchFiles(from.pages)
    this.#leaves = new LeafFile(() => this.#files.named('leaves'))
    this.#joined = areSmall(from.pages) ? new JoinedPages(this.#files.named('joined')) : undefined
  }

  async all(): Promise<PageFile[]> {
    const read = createReader()
    const pages: PageFile[] = []
    try {
      for (const [index, page] of this.#from.pages.entries())
        pages.push(await this.#page(page, index, read(page)))
    } finally {
      this.#joined?.close()
    }
    const joined = this.#joined?.isComplete ? this.#joined.file : undefined
    if (joined) return pages.map(page => ({ ...page, joined }))
    return pages.map(page => (isPlainFile(page) ? page : this.#files.copy(page, read(page))))
  }

  get drift(): readonly Drift[] {
    return [...this.#drift.values()]
  }

  get leaves(): string | undefined {
    return this.#leaves.rows
  }

  async #page(page: PageFile, index: number, received: Buffer): Promise<PageFile> {
    const { rows, leftOut } = this.#from
    const left = leftOut?.get(page.file)
    const copy = left && withStandIns(received, rows, left)
    for (const { position, payload, reason } of copy?.replaced ?? [])
      this.trouble.push({
        locator: (index + 1) * positionsPerPage + position,
        page,
        payload: payload.slice(0, longestPayload),
        faults: [{ path: '', text: null, reason }],
      })
    const bytes = await this.#readable(page, index, copy?.bytes ?? received)
    const asRead = { ...page, isLine: isLine(bytes) }
    this.#joined?.add(bytes, asRead.isLine)
    const isReadable = bytes === received && (isPlainFile(page) || this.#joined?.isComplete)
    return isReadable ? asRead : this.#files.copy(asRead, bytes)
  }

  /** Returns the page without anything that DuckDB would refuse. */
  async #readable(page: PageFile, index: number, bytes: Buffer): Promise<Buffer> {
    const edits: Edit[] = []
    const state = { bytes, isOdd: !isUtf8(bytes), hasEscapes: hasUnstorable(bytes) }
    const replaced = new Set(this.trouble.map(({ locator: at }) => at))
    let locator = (index + 1) * positionsPerPage
    for (const record of this.#records(page, bytes)) {
      locator += 1
      const found = findingsOf(state, record, this.#from.bounds)
      const { faults, leaves, drift } = found
      for (const edit of found.edits) edits.push(edit)
      this.hasLong ||= found.hasLong
      // A stand-in may not have the required keys of its record.
      if (faults.length > 0 && !replaced.has(locator))
        this.trouble.push({ locator, page, payload: this.#payload(bytes, record), faults })
      this.#leaves.add(locator, leaves)
      for (const one of drift) this.#drift.set(`${one.kind} ${one.path}`, one)
      if (this.#pause.isDue) await this.#pause.take()
    }
    this.#leaves.flush()
    const copy = edits.length > 0 ? edited(bytes, edits) : bytes
    return state.isOdd || state.hasEscapes ? Buffer.from(harmless(copy.toString('utf8'))) : copy
  }

  #payload(bytes: Buffer, { start, end }: RecordSlice): string {
    const isTooLarge = end - start > this.#from.bounds.limits.bytes
    return bytes.toString('utf8', start, isTooLarge ? start + longestPayload : end)
  }

  *#records(page: PageFile, bytes: Buffer): Generator<RecordSlice> {
    const { rows, known, bounds } = this.#from
    try {
      yield* recordsOn(bytes, { rows, known, max: bounds.limits.fields })
    } catch (error) {
      if (error instanceof NotJson) throw new PageUnreadable([page], error)
      throw error
    }
  }

  cleanUp(): void {
    this.#files.remove()
  }
}

/**
 * Passes most pages through untouched after one search of their bytes; `cleanUp` removes the copies of the others.
 * Throws PageUnreadable for a page whose structure is not JSON.
 */
export async function readablePages(from: PagesToRepair): Promise<ReadablePages> {
  const reading = new PageRepair(from)
  try {
    const pages = await reading.all()
    const { trouble, hasLong, drift, leaves } = reading
    return { pages, trouble, hasLong, drift, leaves, cleanUp: () => reading.cleanUp() }
  } catch (error) {
    reading.cleanUp()
    throw error
  }
}

/** Returns the pages that are not JSON. */
export function unreadableAmong(pages: readonly PageFile[]): PageFile[] {
  return pages.filter(page => {
    try {
      JSON.parse(pageBytes(page).toString('utf8'))
      return false
    } catch (error) {
      if (error instanceof SyntaxError) return true
      throw error
    }
  })
}
