/**
 * Pages whose answers are too large. One record that is too large gives way to a text that says so, which the load puts in
 * quarantine; where all records are large, the list is read in smaller pages, as of a service that gives fewer than it was
 * asked for.
 */
import { readEnvelope, rowsOfPage } from './envelope.ts'
import { TooLarge } from './errors.ts'
import type { Query } from './redact.ts'
import type { Answer } from './sender.ts'

export interface AskedPage {
  readonly page: number
  readonly limit: number
}

type Ask = (query: Query & AskedPage) => Promise<Answer>

/** The rows of a part as they came, and what its answer says of the list. */
interface Part {
  readonly rows: string
  readonly total: number
  readonly fetchedAt: string
}

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

  /** Throws TooLarge when the parts tell nothing either. */
  async read(path: string, query: Query & AskedPage, ask: Ask): Promise<Answer> {
    const limit = Math.min(query.limit, this.#limits.get(path) ?? query.limit)
    const asked = { ...query, limit }
    try {
      return await ask(asked)
    } catch (error) {
      if (!(error instanceof TooLarge) || limit === 1) throw error
      const whole = await this.#inParts(asked, ask, error)
      if (whole) return whole
    }
    this.#limits.set(path, fewer(limit))
    return this.read(path, query, ask)
  }

  /** Undefined when the parts together are too large as well. */
  async #inParts(asked: Query & AskedPage, ask: Ask, error: TooLarge): Promise<Answer | undefined> {
    const parts: Part[] = []
    try {
      await this.#collect(asked, ask, parts)
    } catch (failure) {
      if (!(failure instanceof AllLarge)) throw failure
      return undefined
    }
    const last = parts.findLast(({ total }) => total >= 0)
    // Rows that moved between two parts would be missed: such a page tells nothing.
    if (!last || parts.some(({ total }) => total >= 0 && total !== last.total)) throw error
    const { page, limit } = asked
    const rows = parts.map(part => part.rows).filter(Boolean)
    const meta = JSON.stringify({ page, limit, total: last.total })
    const bytes = Buffer.from(`{"success":true,"data":[${rows.join(',')}],"meta":${meta}}`)
    return { bytes, envelope: readEnvelope(bytes, { page, limit }), fetchedAt: last.fetchedAt }
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
      else parts.push(await this.#instead(asked, ask))
    }
  }

  /** Of the record only its id is asked for. */
  async #instead(asked: Query & AskedPage, ask: Ask): Promise<Part> {
    const { rows, ...part } = partOf(await ask({ ...asked, fields: 'id' }))
    return { ...part, rows: JSON.stringify(`a record of more than ${this.#mostBytes} bytes: ${rows}`) }
  }
}

function partOf({ bytes, envelope, fetchedAt }: Answer): Part {
  const rows = rowsOfPage(bytes)?.toString('utf8') ?? JSON.stringify(envelope.records()).slice(1, -1)
  return { rows: rows.trim(), total: envelope.meta?.total ?? -1, fetchedAt }
}
