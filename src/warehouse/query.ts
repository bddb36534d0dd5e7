/** Ad hoc queries: their bounds, their result, and the errors that both engines share. */
import { MusterError, UsageError } from '../lib/errors.ts'
import { sqlFiles } from './sql-files.ts'

/** What one ad hoc query may use. */
export interface QueryBounds {
  readonly seconds: number
  /** Of the process that runs DuckDB; on a server of each sort and hash of a query. */
  readonly memoryMegabytes: number
  /** Of the rows of one answer, as JSON. */
  readonly answerMegabytes: number
  readonly threads: number
}

export interface QueryResult {
  readonly columns: readonly { readonly name: string; readonly isNumeric: boolean }[]
  /** Plain values: decimals as text, timestamps as ISO 8601 UTC. */
  readonly rows: readonly Record<string, unknown>[]
  /** Why there are more rows than these; null when these are all. */
  readonly cut: 'rows' | 'bytes' | null
}

export interface QuerySession {
  /** Throws UsageError unless the text is one query, MusterError when the engine refuses it. */
  query(sql: string, limit: number, stop?: AbortSignal): Promise<QueryResult>
  close(): Promise<void>
}

/** Rows until there are as many as asked for, or as many bytes as allowed. */
export class CutRows {
  readonly rows: Record<string, unknown>[] = []
  readonly #limit: number
  #bytesLeft: number
  cut: QueryResult['cut'] = null

  constructor(limit: number, { answerMegabytes }: QueryBounds) {
    this.#limit = limit
    this.#bytesLeft = answerMegabytes * 1_048_576
  }

  get bytesLeft(): number {
    return this.#bytesLeft
  }

  /** Whether further rows are wanted. */
  add(row: Record<string, unknown>): boolean {
    if (this.rows.length >= this.#limit) this.cut = 'rows'
    else this.#bytesLeft -= JSON.stringify(row).length
    if (this.#bytesLeft < 0) this.cut = 'bytes'
    if (this.cut === null) this.rows.push(row)
    return this.cut === null
  }
}

const leading = /^(\s|;|--[^\n\r]*|\/\*[\s\S]*?\*\/)+/

/** The statement without leading spaces and comments, and without trailing semicolons. */
export function bareQuery(sql: string): string {
  const bare = sql.replace(leading, '')
  let end = bare.length
  // A pattern would look at every run of spaces again and again.
  while (end > 0 && /[\s;]/.test(bare[end - 1] ?? '')) end -= 1
  return bare.slice(0, end)
}

/** No query that a person or an assistant writes is as long. */
const longestQuery = 65_536

/** Throws UsageError for a text that is empty or far too long. `example` is a query that this engine can run. */
export function requireText(bare: string, example: string): void {
  if (bare === '') throw new UsageError({ what: 'the query is empty', next: `try muster sql "${example}"` })
  if (bare.length > longestQuery)
    throw new UsageError({
      what: `the query has more than ${longestQuery} characters`,
      next: 'write a shorter one',
    })
}

const writing =
  /\b(insert|update|delete|merge|copy|create|alter|drop|truncate|attach|detach|use|install|load|pragma|set|reset|call|checkpoint|vacuum|export|import|prepare|execute|deallocate|explain|into|do)\b/i

/** The error for a statement that does more than read; its first word counts, unless a query may begin with it. */
export function notAQuery(bare: string, beginnings: string): UsageError {
  const [first = ''] = /^\S+/.exec(bare) ?? []
  const isQuery = new RegExp(`^(${beginnings.replaceAll(', ', '|').replace(' or ', '|')})\\b|^\\(`, 'i')
  const rest = isQuery.test(bare) ? bare.replace(isQuery, '') : undefined
  const word = rest === undefined ? first.slice(0, 40) : (writing.exec(rest)?.[1] ?? 'this')
  return new UsageError({
    what: `${word.toUpperCase()} is not a query`,
    next: `muster sql only reads: begin with ${beginnings}`,
  })
}

/** An engine repeats parts of the query, which can be long. */
const longestMessage = 400

/** What an engine says, in one line of a readable length. */
export function shortened(message: string): string {
  const line = message.replace(/\s+/g, ' ')
  return line.length > longestMessage ? `${line.slice(0, longestMessage)}…` : line
}

/** The query was stopped at its deadline. */
export class TooLong extends MusterError {
  constructor({ seconds }: QueryBounds) {
    super({
      what: `the query ran longer than ${seconds} s and was stopped`,
      next: 'read fewer rows, or aggregate',
    })
  }
}

/** The error for a query that names `mart.NAME`; undefined when no such mart is declared. */
export function unbuiltMart(name: string, next = 'run muster build'): MusterError | undefined {
  if (!sqlFiles('mart').some(file => file.name === `mart/${name}.sql`)) return undefined
  return new MusterError({ what: `mart.${name} is declared but not built`, next })
}
