/** Copies a page without what cannot be loaded: replaces values with null, and records with their id. */
import { createHash } from 'node:crypto'
import type { RowsAt } from '../read/pages.ts'
import { ascii, JsonBytes, NotJson } from './json-bytes.ts'
import type { Slice } from './page-fields.ts'

const { openBracket, closeBracket } = ascii

/** A longer text is not an id. */
const longestId = 200

/** Replacement for a range of bytes. */
export interface Edit extends Slice {
  readonly text: string
}

/** Skips an edit within another one. */
export function edited(bytes: Buffer, edits: readonly Edit[]): Buffer {
  const parts: Buffer[] = []
  let at = 0
  for (const { start, end, text } of [...edits].sort((first, second) => first.start - second.start)) {
    if (start < at) continue
    parts.push(bytes.subarray(at, start), Buffer.from(text))
    at = end
  }
  return Buffer.concat([...parts, bytes.subarray(at)])
}

/** A replaced record, by its position from 1. */
export interface ReplacedRecord {
  readonly position: number
  readonly payload: string
  readonly reason: string
}

class Splitter extends JsonBytes {
  /** Only matches braces, without other checks. A record without an end extends to the end of the page. */
  records(from: number): Slice[] {
    const found: Slice[] = []
    let at = this.afterSpace(from)
    try {
      while (this.bytes[at] !== closeBracket && at < this.bytes.length) {
        found.push({ start: at, end: this.bytes.length })
        const end = this.afterValue(at)
        found[found.length - 1] = { start: at, end }
        at = this.afterItem(end, closeBracket)
      }
    } catch (error) {
      if (!(error instanceof NotJson)) throw error
      const last = found.pop()
      if (last) found.push({ ...last, end: this.bytes.length })
    }
    return found
  }

  /** Where the list of records begins, or the only record. */
  begin(rows: RowsAt): number {
    let at = 0
    for (const key of rows === 'data.entries' ? ['"data"', '"entries"'] : ['"data"']) {
      const found = this.bytes.indexOf(key, at)
      if (found < 0) return this.bytes.length
      at = this.afterColon(found + key.length)
    }
    return at
  }

  only(from: number): Slice[] {
    return [{ start: from, end: this.afterValue(from) }]
  }
}

function slicesOf(bytes: Buffer, rows: RowsAt): Slice[] {
  const splitter = new Splitter(bytes)
  const from = splitter.begin(rows)
  if (rows === 'data as one record') return splitter.only(from)
  return bytes[from] === openBracket ? splitter.records(from + 1) : []
}

function parsed(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) }
  } catch {
    // SyntaxError: the record is broken.
    return undefined
  }
}

/** Finds the id of a record, even a broken one if the id is visible; as JSON if no engine stores it. */
export function idIn(payload: string): string | undefined {
  const record = parsed(payload)
  if (!record) return /"id"\s*:\s*"([A-Za-z0-9_-]{1,64})"/.exec(payload)?.[1]
  const id = (record.json as { id?: unknown } | null)?.id
  if (typeof id === 'number') return String(id)
  if (typeof id !== 'string' || id.length > longestId) return undefined
  return /[\0\p{Cs}]/u.test(id) ? JSON.stringify(id) : id
}

/** Includes the id, so that a scan counts the record. */
export function standIn(payload: string): string {
  const id = idIn(payload) ?? `no id: ${createHash('md5').update(payload).digest('hex')}`
  return JSON.stringify({ id })
}

const wrapped = (rows: RowsAt, records: readonly string[]): string => {
  if (rows === 'data as one record') return `{"data":${records[0] ?? 'null'}}`
  const list = `[${records.join(',')}]`
  return rows === 'data' ? `{"data":${list}}` : `{"data":{"entries":${list}}}`
}

export interface Copy {
  readonly bytes: Buffer
  readonly replaced: readonly ReplacedRecord[]
}

/** Replaces the records at these positions, and every record that is not JSON. */
export function withStandIns(bytes: Buffer, rows: RowsAt, leftOut: ReadonlyMap<number, string>): Copy {
  const replaced: ReplacedRecord[] = []
  const texts = slicesOf(bytes, rows).map(({ start, end }, index) => {
    const payload = bytes.toString('utf8', start, end)
    const position = index + 1
    const reason = leftOut.get(position) ?? (parsed(payload) ? undefined : 'not JSON')
    if (reason === undefined) return payload
    replaced.push({ position, payload, reason })
    return standIn(payload)
  })
  return { bytes: Buffer.from(wrapped(rows, texts)), replaced }
}

export const recordCount = (bytes: Buffer, rows: RowsAt): number => slicesOf(bytes, rows).length

/** Parses the records of a page that is not JSON; of broken ones only the id remains. */
export function unbrokenRecords(bytes: Buffer): unknown[] {
  const { bytes: copy } = withStandIns(bytes, 'data', new Map())
  return (JSON.parse(copy.toString('utf8')) as { data: unknown[] }).data
}

/** The JSON of each record of a list, as received. */
export const recordTexts = (bytes: Buffer): string[] =>
  slicesOf(bytes, 'data').map(({ start, end }) => bytes.toString('utf8', start, end))
