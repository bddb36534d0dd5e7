/** Rows of CSV, one after the other, so that a large file is never in memory as rows. */
import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { formatNumber } from '../../lib/counted.ts'
import { Pause } from '../../lib/time/pause.ts'

export interface CsvRow {
  readonly cells: readonly string[]
  /** Of the file, from 1: where the row ends. */
  readonly line: number
}

interface CsvRules {
  /** Each cell. */
  readonly trim?: boolean
  readonly skipsEmptyLines?: boolean
  readonly signal: AbortSignal
}

/** Cells of one row: more are no list and no table of workers. */
const mostCells = 1000

/** Goes on after the name of the file. Values are left out: they may be personal. */
export class NotCsv extends Error {}

const sliceBytes = 65_536

function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += sliceBytes) yield bytes.subarray(from, from + sliceBytes)
}

const [quote, comma, lineFeed] = [34, 44, 10] as const

/** The parser would keep a row of any length, and is not asked before it is whole. */
class WidthCheck {
  #line = 1
  #commas = 0
  #isQuoted = false

  take(slice: Buffer): void {
    for (const byte of slice) {
      if (byte === quote) this.#isQuoted = !this.#isQuoted
      else if (byte === lineFeed) this.#endLine()
      else if (byte === comma && !this.#isQuoted) this.#commas += 1
      if (this.#commas >= mostCells)
        throw new NotCsv(`has more than ${formatNumber(mostCells)} columns at line ${this.#line}`)
    }
  }

  #endLine(): void {
    this.#line += 1
    if (!this.#isQuoted) this.#commas = 0
  }
}

function* checked(bytes: Buffer): Generator<Buffer> {
  const check = new WidthCheck()
  for (const slice of slicesOf(bytes)) {
    check.take(slice)
    yield slice
  }
}

/** The message of the parser is dropped, because it quotes the cell. */
function asNotCsv(error: unknown): unknown {
  if (!(error instanceof CsvError)) return error
  const line = typeof error.lines === 'number' ? ` at line ${error.lines}` : ''
  return new NotCsv(`is not CSV${line}`)
}

/** Throws NotCsv, or the reason of the signal. */
export async function* csvRows(bytes: Buffer, rules: CsvRules): AsyncGenerator<CsvRow> {
  const pause = new Pause(rules.signal)
  const parser = parse({
    relax_column_count: true,
    info: true,
    trim: rules.trim ?? false,
    skip_empty_lines: rules.skipsEmptyLines ?? false,
  })
  const source = Readable.from(checked(bytes), { objectMode: false })
  source.on('error', error => parser.destroy(error)).pipe(parser)
  try {
    for await (const { record, info } of parser) {
      yield { cells: record, line: info.lines }
      if (pause.isDue) await pause.take()
    }
  } catch (error) {
    throw asNotCsv(error)
  } finally {
    source.destroy()
  }
}
