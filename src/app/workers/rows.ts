/** A file of workers as rows: JSON (one object or an array), NDJSON (an object a line) or CSV with headings. */
import { extname } from 'node:path'
import { CsvError, parse } from 'csv-parse/sync'
import { workerFields } from '../../api/writes/worker-input.ts'
import { didYouMean } from '../../config/nearest.ts'
import { UsageError } from '../../lib/errors.ts'
import { readInputText } from '../../lib/input-file.ts'
import { deepestJson, isDeep } from '../../lib/json-depth.ts'

export interface Row {
  readonly row: number
  readonly value: unknown
}

/** A mistake in an input file, told without the value, which may be personal. */
export interface Problem {
  /** As a spreadsheet or an editor counts it, from 1. */
  readonly row: number
  /** Path of the field; empty when the problem is the row itself. */
  readonly field: string
  readonly what: string
}

export interface Rows {
  readonly rows: readonly Row[]
  readonly problems: readonly Problem[]
}

const readers: Readonly<Record<string, (text: string, shown: string) => Rows>> = {
  '.json': jsonRows,
  '.ndjson': lineRows,
  '.jsonl': lineRows,
  '.csv': csvRows,
}

/** `shown` is the file as the user named it. Throws UsageError for a file that cannot be read at all. */
export function readRows(file: string, shown: string): Rows {
  const reader = readers[extname(file).toLowerCase()]
  if (!reader) {
    const kinds = Object.keys(readers).join(', ')
    throw new UsageError({ what: `${shown} has no known file ending`, next: `name it ${kinds}` })
  }
  const found = withoutDeep(reader(readText(file, shown), shown))
  if (found.rows.length + found.problems.length > 0) return found
  throw new UsageError({ what: `${shown} has no rows`, next: 'put one worker a row into it' })
}

/** Bytes of an input file. Its text must fit into one string, also with documents in it. */
const largestInput = 256 * 1_048_576

function readText(file: string, shown: string): string {
  const read = readInputText(file, { mostBytes: largestInput })
  if (typeof read === 'string') return read
  throw new UsageError({ what: `${shown} ${read.why}`, next: 'name a file of workers in UTF-8' })
}

/** Undefined when the text is not JSON; the message of the parser is dropped, because it quotes the text. */
function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** A row that is nested deeper than any worker would exhaust the stack of its checks. */
function withoutDeep({ rows, problems }: Rows): Rows {
  const deep = rows.filter(({ value }) => isDeep(value))
  if (deep.length === 0) return { rows, problems }
  const what = `is nested deeper than ${deepestJson}`
  return {
    rows: rows.filter(row => !deep.includes(row)),
    problems: [...problems, ...deep.map(({ row }) => ({ row, field: '', what }))],
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

/** CSV with headings: a field a column, `address.city` for a part of one, several trades separated by `;`. */
function csvRows(text: string, shown: string): Rows {
  const [headings = [], ...records] = cellsOf(text, shown)
  const columns = headings.map(heading => heading.trim())
  const problems = headingProblems(columns)
  const rows: Row[] = []
  for (const [index, cells] of records.entries()) {
    const row = index + 2
    if (cells.every(cell => cell.trim() === '')) continue
    if (cells.length === columns.length) rows.push({ row, value: rowValue(columns, cells) })
    else problems.push({ row, field: '', what: `has ${cells.length} cells below ${columns.length} headings` })
  }
  return { rows, problems }
}

/** The message of the parser is dropped, because it quotes the cell. */
function cellsOf(text: string, shown: string): string[][] {
  try {
    return parse(text, { bom: true, relax_column_count: true, skip_empty_lines: false })
  } catch (error) {
    const line = error instanceof CsvError && typeof error.lines === 'number' ? ` at line ${error.lines}` : ''
    throw new UsageError({ what: `${shown} is not CSV${line}`, next: 'check quotes and commas there' })
  }
}

const documentFields = ['attachments', 'rightToWork']
const flatFields = [
  'id',
  ...workerFields.filter(field => field !== 'address' && !documentFields.includes(field)),
]

function headingProblems(columns: readonly string[]): Problem[] {
  return columns.flatMap((column, index) => {
    const problem = (what: string) => [{ row: 1, field: column, what }]
    if (column === '') return [{ row: 1, field: '', what: `has no heading in column ${index + 1}` }]
    if (columns.indexOf(column) < index) return problem('is a heading twice')
    if (documentFields.includes(column.split(/[.[]/)[0] ?? '')) {
      return problem('has no place in CSV: give documents in JSON')
    }
    if (/^address\.\w+$/.test(column) || flatFields.includes(column)) return []
    return problem(`is not a field${didYouMean(column, [...flatFields, 'address.lineOne', 'address.city'])}`)
  })
}

const truths: Readonly<Record<string, boolean>> = { true: true, yes: true, false: false, no: false }

/** An empty cell leaves its field out. */
function rowValue(columns: readonly string[], cells: readonly string[]): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  const address: Record<string, string> = {}
  for (const [index, column] of columns.entries()) {
    const cell = cells[index]?.trim() ?? ''
    if (cell === '') continue
    if (column.startsWith('address.')) address[column.slice('address.'.length)] = cell
    else value[column] = cellValue(column, cell)
  }
  return Object.keys(address).length > 0 ? { ...value, address } : value
}

function cellValue(column: string, cell: string): unknown {
  if (column === 'trades') return cell.split(/\s*[;|]\s*/).filter(trade => trade !== '')
  if (column === 'consent' || column === 'active') return truths[cell.toLowerCase()] ?? cell
  return cell
}
