/** Reads one page of a sweep: ids and times, accepted only if its rows and its total agree. */
import { MusterError } from '../../lib/errors.ts'
import type { ScannedPage } from '../paging/scan.ts'
import { spanOf } from '../paging/times.ts'

export interface SweptRow {
  readonly id: string
  /** As the service wrote them; null if not ISO 8601 times. */
  readonly createdAt: string | null
  readonly updatedAt: string | null
}

export interface SweptPage extends ScannedPage {
  readonly swept: readonly SweptRow[]
}

/** A response as received: the service's total, and the records of the page. */
export interface RawPage {
  readonly total: number
  readonly limit: number
  readonly records: readonly unknown[]
}

/** The parameter that keeps pages small: about 90 bytes a row instead of some 3,000. */
export const sweptFields = 'id,createdAt,updatedAt'

/** How often a page that contradicts itself is requested. */
const maxAnswers = 3

const isInstant = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value) && !Number.isNaN(Date.parse(value))

/** Undefined when a record has no id: then the page is no evidence at all. */
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

interface ExpectedRows {
  readonly page: number
  readonly total: number
  /** Rows of a full page. */
  readonly size: number
}

/** Whether the page has as many rows as its total leaves for it. */
export function agrees({ page, total, size }: ExpectedRows, rows: number): boolean {
  return rows === Math.max(0, Math.min(size, total - (page - 1) * size))
}

interface SweptPageRequest {
  /** For messages. */
  readonly where: string
  readonly page: number
  /** Rows of a full page. */
  readonly size: number
  /** By the local clock, in milliseconds since the epoch. */
  readonly now: number
}

function pageOf(
  { page, now }: SweptPageRequest,
  { total, limit }: RawPage,
  swept: readonly SweptRow[],
): SweptPage {
  const { newest } = spanOf(swept, 'updatedAt', now)
  return {
    page,
    total,
    limit,
    swept,
    empty: swept.length === 0,
    rows: swept.length,
    ...(newest !== undefined && { newest }),
  }
}

/** Requests a page again when it contradicts itself. Accepts it if it does so every time. */
export async function askAgreeing(asked: SweptPageRequest, ask: () => Promise<RawPage>): Promise<SweptPage> {
  let rows: number | undefined
  for (let answers = 1; ; answers += 1) {
    const answer = await ask()
    const swept = sweptRows(answer.records)
    const size = Math.min(asked.size, answer.limit)
    if (swept && (agrees({ ...asked, size, total: answer.total }, swept.length) || swept.length === rows))
      return pageOf(asked, answer, swept)
    rows = swept?.length
    if (answers < maxAnswers) continue
    if (swept) return pageOf(asked, answer, swept)
    throw new MusterError({
      what: 'the service returned a record without its id',
      where: `${asked.where}, page ${asked.page}`,
      next: 'nothing was tombstoned; run again, and report it to the service if it persists',
    })
  }
}
