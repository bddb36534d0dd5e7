/**
 * Reads pages whose answers are too large. Replaces a single large record by a text that says so, which the load quarantines.
 * If all records are large, reads the list in smaller pages, as if the service returned fewer rows than requested. A scan
 * treats a page as one state of the list, so parts are joined only if one answer with the page's ids and change times has the
 * same records.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Meta, readEnvelope, rowsOfPage } from './envelope.ts'
import { AnswerTooLarge } from './errors.ts'
import type { RequestQuery } from './redact.ts'
import type { ApiAnswer } from './sender.ts'

export interface LargePageRequest {
  readonly page: number
  readonly limit: number
}

type PageFetch = (query: RequestQuery & LargePageRequest) => Promise<ApiAnswer>

/** The rows of a part as received, and the versions of its records. */
interface PagePart {
  readonly rows: string
  readonly versions: readonly string[]
}

/** Fields that identify the version of a record. */
const versionFields = 'id,updatedAt'

/** Max attempts to read a page in parts before the list is read in smaller pages. */
const maxReadings = 2

/** Most records are large, not just one. */
class AllLarge extends Error {}

/** The next smaller page: 200, 100, 50, 25, 5, 1. */
function fewer(limit: number): number {
  if (limit % 2 === 0) return limit / 2
  return limit % 5 === 0 ? limit / 5 : 1
}

export class LargePages {
  readonly #maxBytes: number
  /** Limits with which pages are small enough, by path. */
  readonly #limits = new Map<string, number>()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Throws AnswerTooLarge if even an answer with ids and times only is too large. */
  async read(path: string, query: RequestQuery & LargePageRequest, ask: PageFetch): Promise<ApiAnswer> {
    const limit = Math.min(query.limit, this.#limits.get(path) ?? query.limit)
    const asked = { ...query, limit }
    try {
      return await ask(asked)
    } catch (error) {
      if (!(error instanceof AnswerTooLarge)) throw error
    }
    const page = limit === 1 ? await this.#named(asked, ask) : await this.#inParts(asked, ask)
    if (page) return page
    this.#limits.set(path, fewer(limit))
    return this.read(path, query, ask)
  }

  /** Undefined if the joined parts are too large too, or records moved during the read. */
  async #inParts(asked: RequestQuery & LargePageRequest, ask: PageFetch): Promise<ApiAnswer | undefined> {
    for (let reading = 1; reading <= maxReadings; reading += 1) {
      const parts = await this.#partsOf(asked, ask)
      if (!parts) return undefined
      const state = await ask({ ...asked, fields: versionFields })
      if (areVersions(state, parts)) return joined(parts, state)
    }
    return undefined
  }

  async #partsOf(asked: RequestQuery & LargePageRequest, ask: PageFetch): Promise<PagePart[] | undefined> {
    const parts: PagePart[] = []
    try {
      await this.#collect(asked, ask, parts)
      return parts
    } catch (failure) {
      if (failure instanceof AllLarge) return undefined
      throw failure
    }
  }

  async #collect(asked: RequestQuery & LargePageRequest, ask: PageFetch, parts: PagePart[]): Promise<void> {
    const limit = fewer(asked.limit)
    const count = asked.limit / limit
    for (let index = 1; index <= count; index += 1) {
      const page = (asked.page - 1) * count + index
      await this.#part({ ...asked, page, limit }, ask, parts)
      const bytes = parts.reduce((sum, { rows }) => sum + rows.length, 0)
      if (bytes > this.#maxBytes) throw new AllLarge()
    }
  }

  async #part(asked: RequestQuery & LargePageRequest, ask: PageFetch, parts: PagePart[]): Promise<void> {
    try {
      parts.push(partOf(await ask(asked)))
    } catch (error) {
      if (!(error instanceof AnswerTooLarge)) throw error
      if (asked.limit > 1) await this.#collect(asked, ask, parts)
      else parts.push(this.#instead(await ask({ ...asked, fields: versionFields })))
    }
  }

  /** A page of one record, which is too large. */
  async #named(asked: RequestQuery & LargePageRequest, ask: PageFetch): Promise<ApiAnswer> {
    const state = await ask({ ...asked, fields: versionFields })
    return joined([this.#instead(state)], state)
  }

  /** The text that replaces a large record, from an answer with its id and change time. */
  #instead(named: ApiAnswer): PagePart {
    const { rows, versions } = partOf(named)
    if (rows === '') return { rows, versions }
    return { versions, rows: JSON.stringify(`a record of more than ${this.#maxBytes} bytes: ${rows}`) }
  }
}

function versionOf(record: unknown): string {
  const { id, updatedAt } = (record ?? {}) as { readonly id?: unknown; readonly updatedAt?: unknown }
  return JSON.stringify([id, updatedAt])
}

const versionsOf = ({ envelope }: ApiAnswer): string[] => (envelope.records() as unknown[]).map(versionOf)

function partOf(answer: ApiAnswer): PagePart {
  const { bytes, envelope } = answer
  const rows = rowsOfPage(bytes)?.toString('utf8') ?? JSON.stringify(envelope.records()).slice(1, -1)
  return { rows: rows.trim(), versions: versionsOf(answer) }
}

/** Compares in any order: the service promises none for records with equal sort keys. */
function areVersions(state: ApiAnswer, parts: readonly PagePart[]): boolean {
  const read = parts.flatMap(({ versions }) => versions).sort()
  const expected = versionsOf(state).sort()
  return isDeepStrictEqual(read, expected) && new Set(expected).size === expected.length
}

/** Joins the parts into a page, with the total from the answer that confirmed their records. */
function joined(parts: readonly PagePart[], { envelope, fetchedAt }: ApiAnswer): ApiAnswer {
  const rows = parts.map(part => part.rows).filter(Boolean)
  const meta = envelope.meta as Meta
  const page = `{"success":true,"data":[${rows.join(',')}],"meta":${JSON.stringify(meta)}}`
  const bytes = Buffer.from(page)
  return { bytes, envelope: readEnvelope(bytes, meta), fetchedAt }
}
