/** Checks that ids are safe in a request path and in a file name: an id from elsewhere may be any text. */

const id = '[A-Za-z0-9_-]{1,64}'

/** Means the same on DuckDB, on PostgreSQL, in JSON Schema and in JavaScript. */
export const safeId = `^${id}$`

/** Several ids, separated by commas. */
export const safeIds = `^${id}(,${id})*$`

const safe = new RegExp(safeId)

export const isSafeId = (text: string): boolean => safe.test(text)

/** Negative numbers, zeros, and words such as null: placeholders that programs write for a missing id. */
const placeholder = /^(-\d+|[0_-]+|null|none|nil|nan|undefined|true|false)$/i

/** Whether a request for a record with this id can succeed. */
export const isRecordId = (text: string): boolean => isSafeId(text) && !placeholder.test(text)

/** Ids within records: those of permissions and custom fields may be words with dots or colons. */
const inRecords = /^[A-Za-z0-9_.:-]{1,64}$/

/** '-1' means a missing record in every table. */
export const isId = (text: string): boolean => text !== '-1' && inRecords.test(text)
