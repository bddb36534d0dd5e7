/** Ad hoc queries: their result, and the error for a mart that is declared and not built yet. */
import { MusterError } from '../lib/errors.ts'
import { sqlFiles } from './sql-files.ts'

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

/** The error for a query that names `mart.NAME`; undefined when no such mart is declared. */
export function unbuiltMart(name: string, next = 'run muster build'): MusterError | undefined {
  if (!sqlFiles('mart').some(file => file.name === `mart/${name}.sql`)) return undefined
  return new MusterError({ what: `mart.${name} is declared but not built`, next })
}
