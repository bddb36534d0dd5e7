/** Makes pages readable that DuckDB would refuse, names the records that cannot be loaded, and finds undeclared fields. */
import { isUtf8 } from 'node:buffer'
import { closeSync, openSync, readSync } from 'node:fs'
import { readAtOnce } from '../../lib/input-file.ts'
import { pageBytes } from '../../lib/stored-page.ts'
import { Pause } from '../../lib/time/pause.ts'
import { areSmall, JoinedPages } from '../page/joined-pages.ts'
import { NotJson } from '../page/json-bytes.ts'
import type { KnownNode } from '../page/known-fields.ts'
import { LeafFile } from '../page/leaf-file.ts'
import { type RecordSlice, recordsOn } from '../page/page-fields.ts'
import { type Bounds, type Drift, type Fault, findingsOf } from '../page/record-findings.ts'
import { longestPayload } from '../page/record-limits.ts'
import { withStandIns } from '../page/stand-ins.ts'
import { harmless, hasUnstorable } from '../page/unstorable.ts'
import { BatchFiles } from './batch-files.ts'
import { type PageFile, positionsPerPage, type RowsAt } from './pages.ts'

/** A record that cannot be loaded. */
export interface PageTrouble {
  /** The locator of the record in its batch. */
  readonly locator: number
  readonly page: PageFile
  /** Its JSON as it was received, or the beginning of one that is too large. */
  readonly payload: string
  readonly faults: readonly Fault[]
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
  readonly bounds: Bounds
}

export interface Readable {
  readonly pages: PageFile[]
  readonly trouble: readonly PageTrouble[]
  /** Whether true or false stands anywhere behind the head of a page, be it within a text. */
  readonly hasBooleans: boolean
  /** Differences from what the service documents, for the report. */
  readonly drift: readonly Drift[]
  /** A select of the leaves without a column; see LeafFile. */
  readonly leaves: string | undefined
  cleanUp(): void
}

function hasBooleans(bytes: Buffer): boolean {
  const data = Math.max(0, bytes.indexOf('"data"'))
  return bytes.includes('true', data) || bytes.includes('false', data)
}

/** Reads one file after the other into the same buffer; each overwrites the one before. */
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

/** DuckDB reads no other by itself. */
const isPlainFile = ({ within }: PageFile): boolean => !within

const lineFeed = 10

/** A service that indents its JSON breaks its lines; a line feed inside a text is always escaped. */
function isLine(bytes: Buffer): boolean {
  const at = bytes.indexOf(lineFeed)
  return at === -1 || at === bytes.length - 1
}

/** The pages of one batch, one after the other. */
class Reading {
  readonly #from: Pages
  readonly #files: BatchFiles
  readonly #leaves: LeafFile
  readonly #joined: JoinedPages | undefined
  readonly #drift = new Map<string, Drift>()
  readonly trouble: PageTrouble[] = []
  readonly #pause = new Pause()
  hasBooleans = false

  constructor(from: Pages) {
    this.#from = from
    this.#files = new BatchFiles(from.pages)
    this.#leaves = new LeafFile(() => this.#files.named('leaves'))
    this.#joined = areSmall(from.pages) ? new JoinedPages(this.#files.named('joined')) : undefined
  }

  /** One after the other, in their order. */
  async all(): Promise<PageFile[]> {
    const read = createReader()
    const pages: PageFile[] = []
    try {
      for (const [index, page] of this.#from.pages.entries())
        pages.push(await this.#page(page, index, read(page)))
    } finally {
      this.#joined?.close()
    }
    const joined = this.#joined?.isWhole ? this.#joined.file : undefined
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
    const bytes = copy?.bytes ?? received
    this.hasBooleans ||= hasBooleans(bytes)
    const isChanged = await this.#look(page, index, bytes)
    const asRead = { ...page, isLine: isLine(bytes) }
    const readable = isChanged ? Buffer.from(harmless(bytes.toString('utf8'))) : bytes
    this.#joined?.add(readable, asRead.isLine)
    const isReadable = isPlainFile(page) || this.#joined?.isWhole
    return isChanged || copy || !isReadable ? this.#files.copy(asRead, readable) : asRead
  }

  /** Whether the page has text that DuckDB would refuse. */
  async #look(page: PageFile, index: number, bytes: Buffer): Promise<boolean> {
    const state = { bytes, isOdd: !isUtf8(bytes), hasEscapes: hasUnstorable(bytes) }
    let locator = (index + 1) * positionsPerPage
    for (const record of this.#records(page, bytes)) {
      locator += 1
      const { faults, leaves, drift } = findingsOf(state, record, this.#from.bounds)
      if (faults.length > 0)
        this.trouble.push({ locator, page, payload: this.#payload(bytes, record), faults })
      this.#leaves.add(locator, leaves)
      for (const one of drift) this.#drift.set(`${one.kind} ${one.path}`, one)
      if (this.#pause.isDue) await this.#pause.take()
    }
    this.#leaves.flush()
    return state.isOdd || state.hasEscapes
  }

  #payload(bytes: Buffer, { start, end }: RecordSlice): string {
    const isTooLarge = end - start > this.#from.bounds.limits.bytes
    return bytes.toString('utf8', start, isTooLarge ? start + longestPayload : end)
  }

  *#records(page: PageFile, bytes: Buffer): Generator<RecordSlice> {
    const { rows, known, bounds } = this.#from
    try {
      yield* recordsOn(bytes, { rows, known, most: bounds.limits.fields })
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
 * Most pages pass through untouched after one search of their bytes; `cleanUp` removes the copies of the others.
 * Throws PageUnreadable for a page whose structure is no JSON.
 */
export async function readablePages(from: Pages): Promise<Readable> {
  const reading = new Reading(from)
  try {
    const pages = await reading.all()
    const { trouble, hasBooleans, drift, leaves } = reading
    return { pages, trouble, hasBooleans, drift, leaves, cleanUp: () => reading.cleanUp() }
  } catch (error) {
    reading.cleanUp()
    throw error
  }
}

/** The pages that are no JSON. */
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
