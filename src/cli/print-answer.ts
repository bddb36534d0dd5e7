/** Writes the answer to a query: a table for users, or rows streamed to programs. */
import { withoutFormula } from '../dashboard/csv.ts'
import { counted } from '../lib/counted.ts'
import { MusterError } from '../lib/errors.ts'
import { rowJson, tallRowJson, valueJson } from '../warehouse/exact-json.ts'
import type { QueryResult } from '../warehouse/query.ts'
import type { CommandContext } from './context.ts'
import { printTable } from './terminal/output.ts'

type AnswerRow = Readonly<Record<string, unknown>>

/** The text before the rows, of each batch of rows, and after the last. */
interface RowText {
  begin(names: readonly string[]): string
  /** `isFirst`: no rows came before these. There is at least one. */
  rows(names: readonly string[], rows: readonly AnswerRow[], isFirst: boolean): string
  end(isEmpty: boolean): string
}

function quoted(text: string): string {
  // An empty text is quoted, so that it is not taken for NULL.
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** `cellOf` converts each text before it is written. */
function csvOf(cellOf: (text: string) => string): RowText {
  const field = (value: unknown): string => {
    if (value === null || value === undefined) return ''
    return quoted(cellOf(typeof value === 'object' ? valueJson(value) : String(value)))
  }
  const line = (values: readonly unknown[]): string => `${values.map(field).join(',')}\n`
  return {
    begin: line,
    rows: (names, rows) => rows.map(row => line(names.map(name => row[name]))).join(''),
    end: () => '',
  }
}

const ndjson: RowText = {
  begin: () => '',
  rows: (names, rows) => rows.map(row => `${rowJson(names, row)}\n`).join(''),
  end: () => '',
}

const indented = (names: readonly string[], row: AnswerRow): string =>
  tallRowJson(names, row).replaceAll('\n', '\n  ')

/** One array, closed only after the last row: a truncated answer is invalid JSON and cannot pass for a complete one. */
const json: RowText = {
  begin: () => '[',
  rows: (names, rows, isFirst) =>
    `${isFirst ? '' : ','}\n  ${rows.map(row => indented(names, row)).join(',\n  ')}`,
  end: isEmpty => (isEmpty ? ']\n' : '\n]\n'),
}

/** Programs get texts unchanged; a spreadsheet would run some as formulas. */
const rowTexts = { csv: csvOf(text => text), spreadsheet: csvOf(withoutFormula), json, ndjson }

export type AnswerForm = 'table' | keyof typeof rowTexts

type AnswerStreams = Pick<CommandContext, 'stdout' | 'stderr' | 'json' | 'isColoured'>

export function printAnswerTable(streams: AnswerStreams, { columns, rows, cut }: QueryResult): void {
  const names = columns.map(({ name }) => name)
  printTable(
    streams,
    columns.map(({ name, isNumeric }) => ({ title: name, align: isNumeric ? 'right' : 'left' })),
    // As text: digit grouping would garble ids and years.
    rows.map(row => names.map(name => textOf(row[name]))),
  )
  if (cut === 'rows') noteMoreRows(streams, rows.length)
  if (cut === 'bytes') {
    const { what, next } = tooLarge(rows.length).report
    streams.stderr.write(`${what}: ${next}\n`)
  }
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'object' ? valueJson(value) : String(value)
}

const noteMoreRows = ({ stderr }: AnswerStreams, shown: number): void =>
  void stderr.write(`there are more rows than these ${shown}: raise --limit\n`)

/** A program would take a truncated answer for a complete one, so for programs it is an error. */
const tooLarge = (shown: number): MusterError =>
  new MusterError({
    what: `the answer is cut after ${counted(shown, 'row')}, because ${shown === 0 ? 'it' : 'the next'} is too large`,
    next: 'read fewer columns, or raise queries.answerMegabytes',
  })

/** Throws MusterError for a row that is larger than an answer may be; returns how many were written. */
export async function printRows(
  streams: AnswerStreams,
  form: Exclude<AnswerForm, 'table'>,
  answer: AsyncIterable<QueryResult>,
): Promise<number> {
  const { stdout } = streams
  const text = rowTexts[form]
  let names: readonly string[] | undefined
  let written = 0
  let cut: QueryResult['cut'] = null
  for await (const part of answer) {
    if (!names) {
      names = part.columns.map(({ name }) => name)
      stdout.write(text.begin(names))
    }
    if (part.rows.length > 0) stdout.write(text.rows(names, part.rows, written === 0))
    written += part.rows.length
    cut = part.cut
    // Backpressure: rows are read as fast as the reader takes them.
    await stdout.drained?.()
  }
  if (cut === 'bytes') throw tooLarge(written)
  stdout.write(text.end(written === 0))
  if (cut === 'rows') noteMoreRows(streams, written)
  return written
}
