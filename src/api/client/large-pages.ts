/**
 * Pages whose answers are too large. One record that is too large gives way to a text that says so, which the load puts in
 * quarantine; where all records are large, the list is read in smaller pages, as of a service that gives fewer than it was
 * asked for. A scan takes a page for one state of the list, so parts make a page only if one answer with the ids and change
 * times of the whole page has the same records.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Meta, readEnvelope, rowsOfPage } from './envelope.ts'
import { TooLarge } from './errors.ts'
import type { Query } from './redact.ts'
import type { Answer } from './sender.ts'

export interface AskedPage {
  readonly page: number
  readonly limit: number
}

type Ask = (query: Query & AskedPage) => Promise<Answer>

/** The rows of a part as they came, and which versions of which records they are. */
interface Part {
  readonly rows: string
  readonly versions: readonly string[]
}

/** What tells the versions of a record apart. */
const versionFields = 'id,updatedAt'

/** How often the parts of a page are read before the list is read in smaller pages. */
const mostReadings = 2

/** The records are large, not one of them. */
class AllLarge extends Error {}

/** The next smaller page: 200, 100, 50, 25, 5, 1. */
function fewer(limit: number): number {
  if (limit % 2 === 0) return limit / 2
  return limit % 5 === 0 ? limit / 5 : 1
}

export class LargePages {
  readonly #mostBytes: number
  /** Limits that gave pages of a size that can be read, by path. */
  readonly #limits = new Map<string, number>()

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Throws TooLarge when an answer is too large that has ids and times only. */
  async read(path: string, query: Query & AskedPage, ask: Ask): Promise<Answer> {
    const limit = Math.min(query.limit, this.#limits.get(path) ?? query.limit)
    const asked = { ...query, limit }
    try {
      return await ask(asked)
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error
    }
    const page = limit === 1 ? await this.#named(asked, ask) : await this.#inParts(asked, ask)
    if (page) return page
    this.#limits.set(path, fewer(limit))
    return this.read(path, query, ask)
  }

  /** Undefined when the parts together are too large as well, or records moved while they were read. */
  async #inParts(asked: Query & AskedPage, ask: Ask): Promise<Answer | undefined> {
    for (let reading = 1; reading <= mostReadings; reading += 1) {
      const parts = await this.#partsOf(asked, ask)
      if (!parts) return undefined
      const state = await ask({ ...asked, fields: versionFields })
      if (areVersions(state, parts)) return joined(parts, state)
    }
    return undefined
  }

  async #partsOf(asked: Query & AskedPage, ask: Ask): Promise<Part[] | undefined> {
    const parts: Part[] = []
    try {
      await this.#collect(asked, ask, parts)
      return parts
    } catch (failure) {
      if (failure instanceof AllLarge) return undefined
      throw failure
    }
  }

  async #collect(asked: Query & AskedPage, ask: Ask, parts: Part[]): Promise<void> {
    const limit = fewer(asked.limit)
    const count = asked.limit / limit
    for (let index = 1; index <= count; index += 1) {
      const page = (asked.page - 1) * count + index
      await this.#part({ ...asked, page, limit }, ask, parts)
      const bytes = parts.reduce((sum, { rows }) => sum + rows.length, 0)
      if (bytes > this.#mostBytes) throw new AllLarge()
    }
  }

  async #part(asked: Query & AskedPage, ask: Ask, parts: Part[]): Promise<void> {
    try {
      parts.push(partOf(await ask(asked)))
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error
      if (asked.limit > 1) await this.#collect(asked, ask, parts)
      else parts.push(this.#instead(await ask({ ...asked, fields: versionFields })))
    }
  }

  /** A page of one record that is too large. */
  async #named(asked: Query & AskedPage, ask: Ask): Promise<Answer> {
    const state = await ask({ ...asked, fields: versionFields })
    return joined([this.#instead(state)], state)
  }

  /** What stands for a record of which only the id and the change time were asked for. */
  #instead(named: Answer): Part {
    const { rows, versions } = partOf(named)
    if (rows === '') return { rows, versions }
    return { versions, rows: JSON.stringify(`a record of more than ${this.#mostBytes} bytes: ${rows}`) }
  }
}

function versionOf(record: unknown): string {
  const { id, updatedAt } = (record ?? {}) as { readonly id?: unknown; readonly updatedAt?: unknown }
  return JSON.stringify([id, updatedAt])
}

const versionsOf = ({ envelope }: Answer): string[] => (envelope.records() as unknown[]).map(versionOf)

function partOf(answer: Answer): Part {
  const { bytes, envelope } = answer
  const rows = rowsOfPage(bytes)?.toString('utf8') ?? JSON.stringify(envelope.records()).slice(1, -1)
  return { rows: rows.trim(), versions: versionsOf(answer) }
}

/** In any order: nothing is promised about records with equal sort keys. */
function areVersions(state: Answer, parts: readonly Part[]): boolean {
  const read = parts.flatMap(({ versions }) => versions).sort()
  const expected = versionsOf(state).sort()
  return isDeepStrictEqual(read, expected) && new Set(expected).size === expected.length
}

/** A page of the rows of the parts, with the total of the moment when they were all there. */
function joined(parts: readonly Part[], { envelope, fetchedAt }: Answer): Answer {
  const rows = parts.map(part => part.rows).filter(Boolean)
  const meta = envelope.meta as Meta
  const page = `{"success":true,"data":[${rows.join(',')}],"meta":${JSON.stringify(meta)}}`
  const bytes = Buffer.from(page)
  return { bytes, envelope: readEnvelope(bytes, meta), fetchedAt }
}
