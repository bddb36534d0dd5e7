/** One page of a sweep: ids and times, believed only where its rows and its total agree. */
import { MusterError } from '../../lib/errors.ts'
import type { ScannedPage } from '../paging/scan.ts'
import { spanOf } from '../paging/times.ts'

export interface SweptRow {
  readonly id: string
  /** As the service wrote them; null when they are no ISO 8601 instants. */
  readonly createdAt: string | null
  readonly updatedAt: string | null
}

export interface SweptPage extends ScannedPage {
  readonly swept: readonly SweptRow[]
}

/** An answer as it came: how many rows the service says there are in all, and the records of the page. */
export interface RawPage {
  readonly total: number
  readonly limit: number
  readonly records: readonly unknown[]
}

/** The parameter that keeps a page small: about 90 bytes a row instead of some 3,000. */
export const sweptFields = 'id,createdAt,updatedAt'

/** How often a page that contradicts itself is asked for again. */
const mostAnswers = 3

const isInstant = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value) && !Number.isNaN(Date.parse(value))

/** Undefined when a record has no id: then the page is no evidence of anything. */
export function sweptRows(records: readonly unknown[]): SweptRow[] | undefined {
  const rows: SweptRow[] = []
  for (const record of records) {
    const { id, createdAt, updatedAt } = (record ?? {}) as Record<string, unknown>
    if (typeof id !== 'string' || id === '') return undefined
    rows.push({
      id,
      createdAt: isInstant(createdAt) ? createdAt : null,
      updatedAt: isInstant(updatedAt) ? updatedAt : null,
    })
  }
  return rows
}

interface Expected {
  readonly page: number
  readonly total: number
  /** Rows of a full page. */
  readonly size: number
}

/** A page holds as many rows as its total leaves for it. */
export function agrees({ page, total, size }: Expected, rows: number): boolean {
  return rows === Math.max(0, Math.min(size, total - (page - 1) * size))
}

interface Asked {
  /** For messages. */
  readonly where: string
  readonly page: number
  /** Rows of a full page. */
  readonly size: number
  /** By our clock, milliseconds since the epoch. */
  readonly now: number
}

function pageOf({ page, now }: Asked, { total, limit }: RawPage, swept: readonly SweptRow[]): SweptPage {
  const [first] = swept
  const { newest } = spanOf(swept, 'updatedAt', now)
  return {
    page,
    total,
    limit,
    swept,
    empty: swept.length === 0,
    rows: swept.length,
    ...(first && { first: first.id }),
    ...(newest !== undefined && { newest }),
  }
}

/** Asks again when a page contradicts itself; one that does so every time is as the service shows it. */
export async function askAgreeing(asked: Asked, ask: () => Promise<RawPage>): Promise<SweptPage> {
  let rows: number | undefined
  for (let answers = 1; ; answers += 1) {
    const answer = await ask()
    const swept = sweptRows(answer.records)
    if (swept && (agrees({ ...asked, total: answer.total }, swept.length) || swept.length === rows))
      return pageOf(asked, answer, swept)
    rows = swept?.length
    if (answers < mostAnswers) continue
    if (swept) return pageOf(asked, answer, swept)
    throw new MusterError({
      what: 'a record came without its id',
      where: `${asked.where}, page ${asked.page}`,
      next: 'nothing was tombstoned; run again, and tell the service about it if it stays',
    })
  }
}
