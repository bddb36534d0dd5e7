/** A file of many workers as rows: JSON (one object or an array), NDJSON (an object a line) or CSV with headings. */
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { UsageError } from '../../lib/errors.ts'
import { csvRows } from './csv-rows.ts'
import type { Problem } from './problem.ts'
import type { Row, Rows } from './row.ts'

const READERS: Readonly<Record<string, (text: string, shown: string) => Rows>> = {
  '.json': jsonRows,
  '.ndjson': lineRows,
  '.jsonl': lineRows,
  '.csv': csvRows,
}

/** `shown` is the file as the user named it. Throws UsageError for a file that can not be read as a whole. */
export function readRows(file: string, shown: string): Rows {
  const reader = READERS[extname(file).toLowerCase()]
  if (!reader) {
    const kinds = Object.keys(READERS).join(', ')
    throw new UsageError({ what: `${shown} has no ending that says what it is`, next: `name it ${kinds}` })
  }
  const found = reader(readText(file, shown), shown)
  if (found.rows.length + found.problems.length > 0) return found
  throw new UsageError({ what: `${shown} has no rows`, next: 'put one worker a row into it' })
}

function readText(file: string, shown: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (error) {
    if (error instanceof TypeError)
      throw new UsageError({ what: `${shown} is not UTF-8`, next: 'save it as UTF-8' })
    throw new UsageError({
      what: `${shown} cannot be read`,
      next: 'check its path and its rights',
      cause: error,
    })
  }
}

/** The parser's own words quote the text. */
function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function jsonRows(text: string, shown: string): Rows {
  const whole = parsed(text)
  if (!whole) throw new UsageError({ what: `${shown} is not JSON`, next: 'one object, or an array of them' })
  const values = Array.isArray(whole.value) ? whole.value : [whole.value]
  return { rows: values.map((value, index) => ({ row: index + 1, value })), problems: [] }
}

function lineRows(text: string): Rows {
  const rows: Row[] = []
  const problems: Problem[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const read = parsed(line)
    if (read) rows.push({ row: index + 1, value: read.value })
    else problems.push({ row: index + 1, field: '', what: 'is not JSON' })
  }
  return { rows, problems }
}
