/** Fills a mart in slices where its statement does not fit the memory of DuckDB: each needs its share of what all rows would. */
import type { Mart } from './mart.ts'

/** `:slice(t.worker_id)` in a statement: of a column that is never null, and on whose other values no row depends. */
const token = /(?<!:):slice\(([^()]*)\)/g

/** Each slice has the values whose hash begins with one of these. Weeks of workers of ten million timesheets fit in eight. */
export const slices: readonly string[] = ['01', '23', '45', '67', '89', 'ab', 'cd', 'ef']

/** The header names the column; a statement may include text that only others fill in slices. */
export const isSliced = ({ fields }: Pick<Mart, 'fields'>): boolean => fields.has('Slices')

/** Without a slice all rows are read. */
export const fillSlice = (sql: string, slice?: string): string =>
  sql.replace(token, (_, column: string) =>
    slice === undefined ? 'true' : `position(left(md5(${column}), 1) in '${slice}') > 0`,
  )
