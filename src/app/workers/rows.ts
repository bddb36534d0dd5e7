/** A file of workers as rows: JSON (one object or an array), NDJSON (an object a line) or CSV with headings. */
import { extname } from 'node:path'
import { UsageError } from '../../lib/errors.ts'
import { readInputUtf8 } from '../../lib/input-file.ts'
import { csvRows } from './csv-rows.ts'
import { jsonRows, lineRows } from './json-rows.ts'
import type { Rows } from './row-list.ts'

type Reader = (bytes: Buffer, shown: string, signal: AbortSignal) => Promise<Rows>

const readers: Readonly<Record<string, Reader>> = {
  '.json': jsonRows,
  '.ndjson': lineRows,
  '.jsonl': lineRows,
  '.csv': csvRows,
  '.tsv': csvRows,
  '.txt': csvRows,
}

/** `shown` is the file as the user named it. Throws UsageError for a file that cannot be read at all. */
export async function readRows(file: string, shown: string, signal: AbortSignal): Promise<Rows> {
  const reader = readers[extname(file).toLowerCase()]
  if (!reader) {
    if (/^\.(xls[xmb]?|ods|numbers)$/i.test(extname(file)))
      throw new UsageError({
        what: `${shown} is a workbook`,
        next: 'save its sheet as CSV (UTF-8) and name that',
      })
    const kinds = Object.keys(readers).join(', ')
    throw new UsageError({ what: `${shown} has no known file ending`, next: `name it ${kinds}` })
  }
  const found = await reader(bytesOf(file, shown), shown, signal)
  if (found.rows.length + found.problems.length > 0) return found
  throw new UsageError({ what: `${shown} has no rows`, next: 'put one worker a row into it' })
}

/** Bytes of an input file, also with documents in it. */
const largestInput = 256 * 1_048_576

function bytesOf(file: string, shown: string): Buffer {
  const read = readInputUtf8(file, { mostBytes: largestInput })
  if (Buffer.isBuffer(read)) return read
  throw new UsageError({ what: `${shown} ${read.why}`, next: 'name a file of workers in UTF-8' })
}
