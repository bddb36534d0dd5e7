/** Writes the answer to a query: a table for people, or rows for programs while they are read. */
import { counted } from '../../lib/counted.ts'
import { MusterError } from '../../lib/errors.ts'
import type { QueryResult } from '../../warehouse/query.ts'
import { valueJson } from '../../warehouse/row-json.ts'
import type { CommandContext } from '../context.ts'
import { printTable } from '../terminal/output.ts'
import { rowTexts } from './rows-as-text.ts'

export type Form = 'table' | keyof typeof rowTexts

type Streams = Pick<CommandContext, 'stdout' | 'stderr' | 'json' | 'isColoured'>

export function printAnswerTable(streams: Streams, { columns, rows, cut }: QueryResult): void {
  const names = columns.map(({ name }) => name)
  printTable(
    streams,
    columns.map(({ name, isNumeric }) => ({ title: name, align: isNumeric ? 'right' : 'left' })),
    // As text: digits in groups would make another number of an id or a year.
    rows.map(row => names.map(name => textOf(row[name]))),
  )
  if (cut === 'rows') tellMore(streams, rows.length)
  if (cut === 'bytes') {
    const { what, next } = tooLarge(rows.length).report
    streams.stderr.write(`${what}: ${next}\n`)
  }
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'object' ? valueJson(value) : String(value)
}

const tellMore = ({ stderr }: Streams, shown: number): void =>
  void stderr.write(`there are more rows than these ${shown}: raise --limit\n`)

/** A program would take a part for the whole: for it such an answer is a failure. */
const tooLarge = (shown: number): MusterError =>
  new MusterError({
    what: `the answer is cut after ${counted(shown, 'row')}, because ${shown === 0 ? 'it' : 'the next'} is too large`,
    next: 'read fewer columns, or raise queries.answerMegabytes',
  })

/** Throws MusterError for a row that is larger than an answer may be; returns how many were written. */
export async function printRows(
  streams: Streams,
  form: Exclude<Form, 'table'>,
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
    // Who reads slowly decides how fast rows are read: they do not pile up here.
    await stdout.drained?.()
  }
  if (cut === 'bytes') throw tooLarge(written)
  stdout.write(text.end(written === 0))
  if (cut === 'rows') tellMore(streams, written)
  return written
}
