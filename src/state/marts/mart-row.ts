/** A row of ops.mart. */

export interface MartTable {
  name: string
  /** Of the definition that the rows were built by. */
  definition_id: string
  /** Hash of its columns; a table of another shape is made anew. */
  shape: string
  /** What its sources looked like: the same text, the same rows. */
  sources: string
  /** How the last attempt went; `refused` by a check. A table that is there was built at `built_at` in any case. */
  state: 'built' | 'failed' | 'refused'
  /** ISO 8601; null for a mart that was never built. */
  built_at: string | null
  /** ISO 8601: what the service said until then is in it. */
  as_of: string | null
  rows: number | null
  milliseconds: number | null
  tried_at: string
  message: string | null
  run_id: string
}
