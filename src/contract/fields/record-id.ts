/** Ids that are safe in the path of a request and in the name of a file: an id from elsewhere may be any text. */

const id = '[A-Za-z0-9_-]{1,64}'

/** Means the same on DuckDB, on PostgreSQL, in JSON Schema and in JavaScript. */
export const safeId = `^${id}$`

/** Several ids, separated by commas. */
export const safeIds = `^${id}(,${id})*$`

const safe = new RegExp(safeId)

export const isSafeId = (text: string): boolean => safe.test(text)
