/** One query that somebody typed, and what came of it. */

export interface QueryResult {
  readonly columns: readonly { readonly name: string; readonly isNumeric: boolean }[]
  /** Plain values: decimals as text, timestamps as ISO 8601 UTC. */
  readonly rows: readonly Record<string, unknown>[]
  /** Whether there were more rows than asked for. */
  readonly isCut: boolean
}

export interface QuerySession {
  /** Throws UsageError for what is not one query, MusterError for what the engine refuses. */
  query(sql: string, limit: number, stop?: AbortSignal): Promise<QueryResult>
  close(): Promise<void>
}

const leading = /^(\s|;|--.*(\n|$)|\/\*[\s\S]*?\*\/)+/

/** The statement without what stands before its first word, and without semicolons behind it. */
export const bareQuery = (sql: string): string => sql.replace(leading, '').replace(/[\s;]+$/, '')
