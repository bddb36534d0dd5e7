/** An ad hoc query and its result. */

export interface QueryResult {
  readonly columns: readonly { readonly name: string; readonly isNumeric: boolean }[]
  /** Plain values: decimals as text, timestamps as ISO 8601 UTC. */
  readonly rows: readonly Record<string, unknown>[]
  /** Whether there were more rows than asked for. */
  readonly isCut: boolean
}

export interface QuerySession {
  /** Throws UsageError unless the text is one query, MusterError when the engine refuses it. */
  query(sql: string, limit: number, stop?: AbortSignal): Promise<QueryResult>
  close(): Promise<void>
}

const leading = /^(\s|;|--.*(\n|$)|\/\*[\s\S]*?\*\/)+/

/** The statement without leading spaces and comments, and without trailing semicolons. */
export const bareQuery = (sql: string): string => sql.replace(leading, '').replace(/[\s;]+$/, '')
