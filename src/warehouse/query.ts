/** Defines ad hoc queries for both engines: bounds, results and errors. */
import { MusterError, UsageError } from '../lib/errors.ts'
import { sqlFiles } from './sql-files.ts'
import { statementsIn } from './sql-tokens.ts'

/** What one ad hoc query may use. */
export interface QueryBounds {
  readonly seconds: number
  /** Limit of the process that runs DuckDB; on a server, of the sorts and hashes of a query. */
  readonly memoryMegabytes: number
  /** Limit of the rows of one result, as JSON. */
  readonly answerMegabytes: number
  readonly threads: number
}

export interface ResultColumn {
  readonly name: string
  readonly isNumeric: boolean
  /** The DuckDB type that accepts the plain values of the column. */
  readonly type: string
}

type EngineRow = Record<string, unknown>

export interface QueryResult {
  readonly columns: readonly ResultColumn[]
  /** Plain values: decimals as text, timestamps as ISO 8601 UTC. */
  readonly rows: readonly EngineRow[]
  /** Why there are more rows than these; null when these are all. */
  readonly cut: 'rows' | 'bytes' | null
}

export interface QuerySession {
  /** Throws UsageError unless the text is one query, MusterError if the engine refuses it. */
  query(sql: string, limit: number, stop?: AbortSignal): Promise<QueryResult>
  /**
   * Yields the rows in results of about a megabyte, however many there are. A result cut by bytes is followed by another; the
   * last one says why the rows end. Each may take as long as a complete query. Yields at least one.
   */
  pieces(sql: string, limit: number, stop?: AbortSignal): AsyncGenerator<QueryResult>
  close(): Promise<void>
}

/** How rows are cut into results. */
export interface Cuts {
  readonly limit: number
  readonly bytes: number
}

/** Size of one piece, as JSON. */
const pieceMegabytes = 1

export const uncutAnswer = (limit: number, { answerMegabytes }: QueryBounds): Cuts => ({
  limit,
  bytes: answerMegabytes * 1_048_576,
})

export const inPieces = (limit: number, { answerMegabytes }: QueryBounds): Cuts => ({
  limit,
  bytes: Math.min(pieceMegabytes, answerMegabytes) * 1_048_576,
})

/** Collects rows up to the requested number or the max bytes. */
class CutRows {
  readonly rows: EngineRow[] = []
  readonly #limit: number
  #bytesLeft: number
  cut: QueryResult['cut'] = null

  constructor({ limit, bytes }: Cuts) {
    this.#limit = limit
    this.#bytesLeft = bytes
  }

  /** Returns whether more rows are wanted. */
  add(row: EngineRow): boolean {
    if (this.rows.length >= this.#limit) this.cut = 'rows'
    else this.#bytesLeft -= JSON.stringify(row).length
    if (this.#bytesLeft < 0) this.cut = 'bytes'
    if (this.cut === null) this.rows.push(row)
    return this.cut === null
  }
}

/** Rows from the engine, several at a time. */
export interface RowSource {
  /** Known once the first rows have arrived. */
  columns(): readonly ResultColumn[]
  /** Throws RowsTooLarge if the next rows do not fit into memory. */
  readonly rows: AsyncIterable<Iterable<EngineRow>>
}

/** The next rows are larger than a result may be. */
export class RowsTooLarge extends Error {}

/** A single row larger than a result ends the results: the last one has no rows and is cut by bytes. */
export async function* results({ rows, columns }: RowSource, cuts: Cuts): AsyncGenerator<QueryResult> {
  let { limit } = cuts
  let taken = new CutRows(cuts)
  const result = (cut = taken.cut): QueryResult => ({ columns: columns(), rows: taken.rows, cut })
  try {
    for await (const some of rows)
      for (const row of some)
        while (!taken.add(row)) {
          yield result()
          if (taken.cut === 'rows' || taken.rows.length === 0) return
          limit -= taken.rows.length
          taken = new CutRows({ ...cuts, limit })
        }
    yield result()
  } catch (error) {
    if (!(error instanceof RowsTooLarge)) throw error
    yield result('bytes')
  }
}

/** Returns the first result; the engine computes no more. */
export async function firstOf(answer: AsyncGenerator<QueryResult>): Promise<QueryResult> {
  const { value } = await answer.next()
  await answer.return(undefined)
  if (!value) throw new Error('an answer has at least one result')
  return value
}

const leading = /^(\s|;|--[^\n\r]*|\/\*[\s\S]*?\*\/)+/

/** The statement without leading spaces and comments, and without trailing semicolons. */
export function bareQuery(sql: string): string {
  const bare = sql.replace(leading, '')
  let end = bare.length
  // A regular expression would scan every run of spaces repeatedly.
  while (end > 0 && /[\s;]/.test(bare[end - 1] ?? '')) end -= 1
  return bare.slice(0, end)
}

/** Longer than any query that a person or an assistant writes. */
const longestQuery = 65_536

/** Throws UsageError if the text is empty, too long, or several statements. `example` is a query that this engine can run. */
export function requireOneText(bare: string, example: string): void {
  if (bare === '') throw new UsageError({ what: 'the query is empty', next: `try muster sql "${example}"` })
  if (bare.length > longestQuery)
    throw new UsageError({
      what: `the query has more than ${longestQuery} characters`,
      next: 'write a shorter one',
    })
  const statements = statementsIn(bare).length
  if (statements > 1)
    throw new UsageError({ what: `these are ${statements} statements`, next: 'give one query at a time' })
}

const writing =
  /\b(insert|update|delete|merge|copy|create|alter|drop|truncate|attach|detach|use|install|load|pragma|set|reset|call|checkpoint|vacuum|export|import|prepare|execute|deallocate|explain|into|do)\b/i

/** The error for a statement that does more than read; names its first word, unless a query may begin with it. */
export function notAQuery(bare: string, beginnings: string): UsageError {
  const [first = ''] = /^\S+/.exec(bare) ?? []
  const isQuery = new RegExp(`^(${beginnings.replaceAll(', ', '|').replace(' or ', '|')})\\b|^\\(`, 'i')
  const rest = isQuery.test(bare) ? bare.replace(isQuery, '') : undefined
  const word = rest === undefined ? first.slice(0, 40) : writing.exec(rest)?.[1]
  return new UsageError({
    what: `${word?.toUpperCase() ?? 'this'} is not a query`,
    next: `muster sql only reads: begin with ${beginnings}`,
  })
}

/** Engine messages quote parts of the query, which can be long. */
const longestMessage = 400

/** Shortens an engine's message to one readable line. */
export function shortened(message: string): string {
  const line = message.replace(/\s+/g, ' ')
  return line.length > longestMessage ? `${line.slice(0, longestMessage)}…` : line
}

/** The query was stopped at its deadline. */
export class QueryTooLong extends MusterError {
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
