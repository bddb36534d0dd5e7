/** Ad hoc queries: their bounds, their result, and the errors that both engines share. */
import { MusterError, UsageError } from '../lib/errors.ts'
import { sqlFiles } from './sql-files.ts'
import { statementsIn } from './sql-tokens.ts'

/** What one ad hoc query may use. */
export interface QueryBounds {
  readonly seconds: number
  /** Of the process that runs DuckDB; on a server of each sort and hash of a query. */
  readonly memoryMegabytes: number
  /** Of the rows of one answer, as JSON. */
  readonly answerMegabytes: number
  readonly threads: number
}

export interface ResultColumn {
  readonly name: string
  readonly isNumeric: boolean
  /** A type of DuckDB that takes the plain values of the column. */
  readonly type: string
}

type Row = Record<string, unknown>

export interface QueryResult {
  readonly columns: readonly ResultColumn[]
  /** Plain values: decimals as text, timestamps as ISO 8601 UTC. */
  readonly rows: readonly Row[]
  /** Why there are more rows than these; null when these are all. */
  readonly cut: 'rows' | 'bytes' | null
}

export interface QuerySession {
  /** Throws UsageError unless the text is one query, MusterError when the engine refuses it. */
  query(sql: string, limit: number, stop?: AbortSignal): Promise<QueryResult>
  /**
   * The same answer some megabytes at a time, however large it is as a whole: a result that is cut by bytes is followed by the
   * next one, and the last one says how the answer ends. Each has as many seconds as a whole query. There is at least one.
   */
  pieces(sql: string, limit: number, stop?: AbortSignal): AsyncGenerator<QueryResult>
  close(): Promise<void>
}

/** How an answer is cut into results. */
export interface Cuts {
  readonly limit: number
  readonly bytes: number
}

/** Of one piece, as JSON. */
const pieceMegabytes = 1

export const wholeAnswer = (limit: number, { answerMegabytes }: QueryBounds): Cuts => ({
  limit,
  bytes: answerMegabytes * 1_048_576,
})

export const inPieces = (limit: number, { answerMegabytes }: QueryBounds): Cuts => ({
  limit,
  bytes: Math.min(pieceMegabytes, answerMegabytes) * 1_048_576,
})

/** Rows until there are as many as asked for, or as many bytes as allowed. */
class CutRows {
  readonly rows: Row[] = []
  readonly #limit: number
  #bytesLeft: number
  cut: QueryResult['cut'] = null

  constructor({ limit, bytes }: Cuts) {
    this.#limit = limit
    this.#bytesLeft = bytes
  }

  /** Whether further rows are wanted. */
  add(row: Row): boolean {
    if (this.rows.length >= this.#limit) this.cut = 'rows'
    else this.#bytesLeft -= JSON.stringify(row).length
    if (this.#bytesLeft < 0) this.cut = 'bytes'
    if (this.cut === null) this.rows.push(row)
    return this.cut === null
  }
}

/** Rows as the engine gives them, several at a time. */
export interface Source {
  /** Known once the first rows have come. */
  columns(): readonly ResultColumn[]
  /** Throws RowsTooLarge when those that come next do not fit into memory. */
  readonly rows: AsyncIterable<Iterable<Row>>
}

/** The next rows of an answer are larger than an answer may be. */
export class RowsTooLarge extends Error {}

/** A row that is larger than a result by itself ends the answer: its last result has no rows and is cut by bytes. */
export async function* results({ rows, columns }: Source, cuts: Cuts): AsyncGenerator<QueryResult> {
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

/** The first result alone; the engine computes no more. */
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
  // A pattern would look at every run of spaces again and again.
  while (end > 0 && /[\s;]/.test(bare[end - 1] ?? '')) end -= 1
  return bare.slice(0, end)
}

/** No query that a person or an assistant writes is as long. */
const longestQuery = 65_536

/** Throws UsageError for a text that is empty, far too long, or several. `example` is a query that this engine can run. */
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

/** The error for a statement that does more than read; its first word counts, unless a query may begin with it. */
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
