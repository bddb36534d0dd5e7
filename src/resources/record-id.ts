/** Ids that may stand in the path of a request: whoever names them may have written anything. */

/** The same on DuckDB, on PostgreSQL and here. */
export const safeId = '^[A-Za-z0-9_-]{1,64}$'

const safe = new RegExp(safeId)

export const isSafeId = (text: string): boolean => safe.test(text)
