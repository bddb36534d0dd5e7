/** One page of a sweep: ids and times, after a look at whether its rows and its total agree. */
import { PAGE_LIMIT } from '../../api/client/paging.ts'
import type { Answer } from '../scan/walk.ts'

export interface SweptRow {
  readonly id: string
  /** As the service wrote them; null when they are no ISO 8601 instants. */
  readonly createdAt: string | null
  readonly updatedAt: string | null
}

/** The parameter that keeps a page small: about 90 bytes a row instead of some 3,000. */
export const sweptFields = 'id,createdAt,updatedAt'

const isInstant = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value) && !Number.isNaN(Date.parse(value))

/** Undefined when a record has no id: then nothing may be concluded from the page. */
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
 * A page holds as many rows as its total leaves for it. A total that is too low would otherwise let a walk end early and
 * pass for complete, and everything that it did not read would look gone.
 */
export function agrees(
  { page, total }: Pick<Answer, 'page' | 'total'>,
  rows: number,
  limit = PAGE_LIMIT,
): boolean {
  return rows === Math.max(0, Math.min(limit, total - (page - 1) * limit))
}

/** Walks that need every id ever claimed; those after them allow for rows that came while they ran. */
const strictWalks = 3
/** What may come while one window is walked before it looks as if parts of the list came and went. */
const growth = { rows: 3, share: 0.01 }

export interface SweptWalk {
  /** Counted from 1. */
  readonly attempt: number
  /** Different ids of this walk alone. */
  readonly distinct: number
  /** Total with the first data page, and the greatest of all answers. */
  readonly firstTotal: number
  readonly greatestTotal: number
}

/**
 * Whether a walk from the last page to the first has seen every row that was there when it began. Rows that come
 * meanwhile stand behind it, so a list that grows all the time never meets its greatest total: after three walks the
 * total of the beginning will do, if it grew by little.
 */
export function isSwept({ attempt, distinct, firstTotal, greatestTotal }: SweptWalk): boolean {
  if (distinct >= greatestTotal) return true
  const most = Math.max(growth.rows, firstTotal * growth.share)
  return attempt > strictWalks && distinct >= firstTotal && greatestTotal - firstTotal <= most
}

/** Walks of one window before the sweep is left for another night. */
export const mostWalks = 6
