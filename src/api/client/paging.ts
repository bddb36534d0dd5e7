/** Computes page numbers of lists: positions are 0-based rows, pages are 1-based. */
import { BadRequest, NotFound } from './errors.ts'

/** Rows per page: the max `limit` that the service accepts, so that a scan costs the fewest requests. */
export const pageLimit = 200

/** The number of the last page with rows; an empty list still has page 1, which answers with the total. */
export function lastPage(total: number, limit: number = pageLimit): number {
  return Math.max(1, Math.ceil(total / limit))
}

export interface PageRequest {
  readonly page: number
  readonly limit: number
}

/**
 * Whether an error means that the page is past the end of a list with this many rows: some services refuse such a page, others
 * return it without rows.
 */
export const isPastEnd = (error: unknown, { page, limit }: PageRequest, rows: number): boolean =>
  (error instanceof NotFound || error instanceof BadRequest) && page > 1 && (page - 1) * limit >= rows

/** The empty page that replaces the error. With an unknown number of rows its total is 1, which page 1 will correct. */
export function pagePastEnd(asked: PageRequest, rows: number): Buffer {
  const total = Math.max(1, rows)
  return Buffer.from(JSON.stringify({ success: true, data: [], meta: { ...asked, total } }))
}
