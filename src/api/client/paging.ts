/** Page arithmetic of the lists: positions are 0-based rows, pages are 1-based. */

/** Rows per page: the greatest `limit` that the service accepts, so that a scan costs the fewest requests. */
export const pageLimit = 200

/** The number of the last page with rows; an empty list still has page 1, which answers with the total. */
export function lastPage(total: number, limit: number = pageLimit): number {
  return Math.max(1, Math.ceil(total / limit))
}
