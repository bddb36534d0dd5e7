/** Reads CSV row by row, so that the rows of a large file are never in memory at once. */
import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { formatNumber } from '../lib/counted.ts'
import { LoopPause } from '../lib/pause.ts'

export interface CsvRow {
  readonly cells: readonly string[]
  /** Line of the file, from 1, where the row ends. */
  readonly line: number
}

interface CsvRules {
  /** Whether to trim each cell. */
  readonly trim?: boolean
  readonly skipsEmptyLines?: boolean
  readonly signal: AbortSignal
}

/** Maximum cells of a row: neither a list of ids nor a table of workers has more. */
const maxCells = 1000

/** The message continues after the file's name. It quotes no values: they may be personal. */
export class NotCsv extends Error {}

const sliceBytes = 65_536

function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += sliceBytes) yield bytes.subarray(from, from + sliceBytes)
}

const [quote, lineFeed] = [34, 10] as const

/** As spreadsheets write them: by the machine's language, and tabs for "Unicode text". */
const separators = [',', ';', '\t'] as const

interface CsvForm {
  readonly separator: string
  /** Bytes of a first line that only names the separator. */
  readonly head: number
}

/** Detects the separator: named as `sep=;`, or the most frequent one in the first line outside quotes; default comma. */
export function formOf(bytes: Buffer): CsvForm {
  const text = bytes.subarray(0, sliceBytes).toString('utf8')
  const [line = '', named] = /^"?sep=([,;\t])"?(?:\r\n|\n|\r)/i.exec(text) ?? []
  if (named !== undefined) return { separator: named, head: Buffer.byteLength(line) }
  const [first = ''] = text
    .replace(/"(?:[^"]|"")*"/g, '')
    .replace(/^[\r\n]+/, '')
    .split(/[\r\n]/)
  const counts = separators.map(one => first.split(one).length)
  return { separator: separators[counts.indexOf(Math.max(...counts))] ?? ',', head: 0 }
}

/** Counts columns while a row arrives, because the parser buffers a row of any length until it is complete. */
class WidthCheck {
  readonly #separator: number
  #line = 1
  #found = 0
  #isQuoted = false

  constructor(separator: string) {
    this.#separator = separator.charCodeAt(0)
  }

  take(slice: Buffer): void {
    for (const byte of slice) {
      if (byte === quote) this.#isQuoted = !this.#isQuoted
      else if (byte === lineFeed) this.#endLine()
      else if (byte === this.#separator && !this.#isQuoted) this.#found += 1
      if (this.#found >= maxCells)
        throw new NotCsv(`has more than ${formatNumber(maxCells)} columns at line ${this.#line}`)
    }
  }

  #endLine(): void {
    this.#line += 1
    if (!this.#isQuoted) this.#found = 0
  }
}

function* checked(bytes: Buffer, separator: string): Generator<Buffer> {
  const check = new WidthCheck(separator)
  for (const slice of slicesOf(bytes)) {
    check.take(slice)
    yield slice
  }
}

/** Drops the parser's message, because it quotes the cell. */
function asNotCsv(error: unknown): unknown {
  if (!(error instanceof CsvError)) return error
  const line = typeof error.lines === 'number' ? ` at line ${error.lines}` : ''
  return new NotCsv(`is not CSV${line}`)
}

/** Throws NotCsv, or the reason of the signal. */
export async function* csvRows(bytes: Buffer, rules: CsvRules): AsyncGenerator<CsvRow> {
  const pause = new LoopPause(rules.signal)
  const { separator, head } = formOf(bytes)
  const parser = parse({
    delimiter: separator,
    relax_column_count: true,
    info: true,
    trim: rules.trim ?? false,
    skip_empty_lines: rules.skipsEmptyLines ?? false,
  })
  const source = Readable.from(checked(bytes.subarray(head), separator), { objectMode: false })
  source.on('error', error => parser.destroy(error)).pipe(parser)
  try {
    for await (const { record, info } of parser) {
      yield { cells: record, line: info.lines + (head > 0 ? 1 : 0) }
      if (pause.isDue) await pause.take()
    }
  } catch (error) {
    throw asNotCsv(error)
  } finally {
    source.destroy()
  }
}
