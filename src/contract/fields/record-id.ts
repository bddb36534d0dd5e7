/** Ids that may stand in the path of a request or the name of a file: whoever names them may have written anything. */

const id = '[A-Za-z0-9_-]{1,64}'

/** The same on DuckDB, on PostgreSQL, in JSON Schema and here. */
export const safeId = `^${id}$`

/** Several, with commas between them. */
export const safeIds = `^${id}(,${id})*$`

const safe = new RegExp(safeId)

export const isSafeId = (text: string): boolean => safe.test(text)
