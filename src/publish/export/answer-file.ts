/** Writes the answer to a query into one Parquet file, with the types of the query. */

import { once } from 'node:events'
import { closeSync, createWriteStream, fstatSync, openSync, readSync, type WriteStream } from 'node:fs'
import { dirname } from 'node:path'
import { finished } from 'node:stream/promises'
import { MusterError } from '../../lib/errors.ts'
import { asPattern } from '../../lib/input-file.ts'
import { beginOutput, type OutputRules, syncToDisk } from '../../temporary/output-file.ts'
import { openStage } from '../../warehouse/duckdb/open.ts'
import { rowJson } from '../../warehouse/exact-json.ts'
import type { QueryResult, ResultColumn } from '../../warehouse/query.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'

/** Key in the footer of the files that this module writes, and of no others. */
const ownKey = 'muster_query'

/** Bytes at the end of a Parquet file that contain its own keys. */
const footerBytes = 4096

/** Whether this program wrote the Parquet file. */
function isAnswerFile(file: string): boolean {
  const opened = openSync(file, 'r')
  try {
    const end = Buffer.alloc(footerBytes)
    const length = readSync(opened, end, 0, footerBytes, Math.max(0, fstatSync(opened).size - footerBytes))
    return end.subarray(0, length).includes(ownKey)
  } finally {
    closeSync(opened)
  }
}

/** Safe names, as columns of a query can have any name. */
const place = (index: number): string => `c${index}`

/** Returns the longest line, in bytes. */
async function writeLines(
  to: WriteStream,
  names: readonly string[],
  rows: QueryResult['rows'],
): Promise<number> {
  let longest = 0
  for (const row of rows) {
    const values = names.map((name, index) => [place(index), row[name]] as const)
    const line = `${rowJson(
      values.map(([name]) => name),
      Object.fromEntries(values),
    )}\n`
    longest = Math.max(longest, Buffer.byteLength(line))
    if (!to.write(line)) await once(to, 'drain')
  }
  return longest
}

interface LinesFile {
  readonly file: string
  readonly columns: readonly ResultColumn[]
  readonly rows: number
  readonly longest: number
}

/** Throws MusterError for an incomplete answer. */
async function linesOf(file: string, answer: AsyncIterable<QueryResult>): Promise<LinesFile> {
  const to = createWriteStream(file, { flags: 'wx', mode: 0o600 })
  let lines: LinesFile = { file, columns: [], rows: 0, longest: 0 }
  let last: QueryResult | undefined
  try {
    for await (const part of answer) {
      const { columns, rows } = part
      const longest = await writeLines(
        to,
        columns.map(({ name }) => name),
        rows,
      )
      lines = { file, columns, rows: lines.rows + rows.length, longest: Math.max(lines.longest, longest) }
      last = part
    }
  } finally {
    to.end()
    await finished(to)
  }
  if (last?.cut === 'bytes')
    throw new MusterError({
      what: `row ${lines.rows + 1} of the answer is too large`,
      next: 'read fewer columns, or raise queries.answerMegabytes',
    })
  return lines
}

/** DuckDB accepts no smaller limit. */
const minObject = 16_777_216

/** Years as DuckDB reads them: without the sign of ISO 8601, and BC where its own texts have it. */
const castable = (column: string, type: string): string =>
  /^(DATE|TIMESTAMP[^[]*)$/.test(type)
    ? `regexp_replace(regexp_replace(${column}, '^[+]0*', ''), '^([0-9]+-[0-9]+-[0-9]+)(.*) BC$', '\\1 (BC)\\2')`
    : column

function parquetCopy({ file, columns, longest }: LinesFile, to: string): string {
  const isNested = ({ type }: ResultColumn): boolean => /\[\]$|^(STRUCT|MAP)\(/.test(type)
  const read = columns.map((column, index) => `${place(index)}: ${isNested(column) ? `'JSON'` : `'VARCHAR'`}`)
  const typed = columns.map(
    ({ name, type }, index) => `cast(${castable(place(index), type)} as ${type}) as ${quoteName(name)}`,
  )
  return `copy (select ${typed.join(', ')} from read_json(${quoteText(asPattern(file))}, columns = {${read.join(', ')}},
      format = 'newline_delimited', maximum_object_size = ${Math.max(minObject, longest + 1024)}))
    to ${quoteText(to)} (format parquet, compression zstd, kv_metadata {${ownKey}: '1'})`
}

/** A value that the type of its column cannot hold, such as NaN among decimals. */
function refused(error: unknown): never {
  const [, reason] =
    /^(?:Conversion|Out of Range) Error: ([^\n]*)/.exec(error instanceof Error ? error.message : '') ?? []
  if (reason === undefined) throw error
  throw new MusterError({
    what: `Parquet cannot take a value: ${reason}`,
    next: 'cast its column to text in the query, or use --csv',
    cause: error,
  })
}

/** Returns the number of rows. The rows pass through a file beside the draft, so that memory stays flat. */
export async function writeAnswerFile(
  file: string,
  answer: AsyncIterable<QueryResult>,
  rules: Omit<OutputRules, 'isOurs'>,
): Promise<number> {
  const draft = beginOutput(file, { ...rules, isOurs: isAnswerFile })
  try {
    const lines = await linesOf(`${draft.path}.rows`, answer)
    const stage = await openStage(dirname(draft.path))
    try {
      await stage.run(parquetCopy(lines, draft.path)).catch(refused)
    } finally {
      await stage.close()
    }
    syncToDisk(draft.path)
    draft.finish()
    return lines.rows
  } finally {
    draft.remove()
  }
}
