/** One page of a sweep: ids and times, believed only where its rows and its total agree. */
import { pageLimit } from '../../api/client/paging.ts'
import { MusterError } from '../../lib/errors.ts'
import type { ScannedPage } from '../scan/scan.ts'

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

/**
 * A page holds as many rows as its total leaves for it. A total that is too low would otherwise let a pass end early and be
 * accepted, and every record that it did not reach would look deleted.
 */
export function agrees(
  { page, total }: Pick<ScannedPage, 'page' | 'total'>,
  rows: number,
  limit = pageLimit,
): boolean {
  return rows === Math.max(0, Math.min(limit, total - (page - 1) * limit))
}

/** Asks until a page does not contradict itself. `where` is for messages. */
export async function askAgreeing(
  where: string,
  page: number,
  ask: (page: number) => Promise<RawPage>,
): Promise<SweptPage> {
  for (let answers = 1; ; answers += 1) {
    const { total, records } = await ask(page)
    const swept = sweptRows(records)
    if (swept && agrees({ page, total }, swept.length))
      return { page, total, swept, empty: swept.length === 0, rows: swept.length }
    if (answers < mostAnswers) continue
    throw new MusterError({
      what: swept ? 'rows and total of a page contradict each other' : 'a record came without its id',
      where: `${where}, page ${page}`,
      next: 'nothing was tombstoned; run again, and tell the service about it if it stays',
    })
  }
}
