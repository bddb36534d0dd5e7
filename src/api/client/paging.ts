/** Page arithmetic of the lists: positions are 0-based rows, pages are 1-based. */
import { BadRequest, NotFound } from './errors.ts'

/** Rows per page: the greatest `limit` that the service accepts, so that a scan costs the fewest requests. */
export const pageLimit = 200

/** The number of the last page with rows; an empty list still has page 1, which answers with the total. */
export function lastPage(total: number, limit: number = pageLimit): number {
  return Math.max(1, Math.ceil(total / limit))
}

export interface Asked {
  readonly page: number
  readonly limit: number
}

/**
 * Whether a page is refused that the list does not have when it has so many rows: some services do so, where others answer
 * without rows.
 */
export const isPastEnd = (error: unknown, { page, limit }: Asked, rows: number): boolean =>
  (error instanceof NotFound || error instanceof BadRequest) && page > 1 && (page - 1) * limit >= rows

/** The page without rows that stands for it: where nothing is known of the list, its total is 1, as page 1 will tell. */
export function pagePastEnd(asked: Asked, rows: number): Buffer {
  const total = Math.max(1, rows)
  return Buffer.from(JSON.stringify({ success: true, data: [], meta: { ...asked, total } }))
}
