/** Reads a file of workers as rows, and the mistakes in it: JSON (an object or array), NDJSON, or CSV with headings. */

import { extname } from 'node:path'
import { workerFields } from '../../api/workers.ts'
import { counted } from '../../lib/counted.ts'
import { UsageError } from '../../lib/errors.ts'
import { linesOf, readInputUtf8 } from '../../lib/input-file.ts'
import { deepestJson, isDeep } from '../../lib/json-depth.ts'
import { LoopPause } from '../../lib/pause.ts'
import { shortKey } from '../../lib/text/field-path.ts'
import { didYouMean } from '../../lib/text/nearest.ts'
import { type CsvRow, csvRows, NotCsv } from '../csv-rows.ts'

export interface InputRow {
  readonly row: number
  /** Parses the line at each call: the values of many rows would fill the memory. */
  read(): unknown
}

/** A mistake in an input file, without the value, which may be personal. */
export interface RowProblem {
  /** Row number, from 1, as a spreadsheet or editor counts. */
  readonly row: number
  /** Path of the field; empty when the problem is the row itself. */
  readonly field: string
  readonly what: string
}

interface InputRows {
  readonly rows: readonly InputRow[]
  readonly problems: readonly RowProblem[]
}

/** Maximum rows of a file. */
const maxRows = 100_000

/** Collects the rows of a file, up to the limit. */
class RowList implements InputRows {
  readonly rows: InputRow[] = []
  readonly problems: RowProblem[] = []
  readonly #shown: string

  /** `shown` is the file as the user named it. */
  constructor(shown: string) {
    this.#shown = shown
  }

  add(row: InputRow): void {
    this.rows.push(row)
    this.#requireFew()
  }

  refuse(problem: RowProblem): void {
    this.problems.push(problem)
    this.#requireFew()
  }

  /** Throws UsageError. */
  #requireFew(): void {
    if (this.rows.length + this.problems.length <= maxRows) return
    throw new UsageError({
      what: `${this.#shown} has more than ${counted(maxRows, 'row')}`,
      next: 'split it into several files',
    })
  }
}

/**
 * Maximum bytes of JSON and CSV. A JSON array is in memory completely, text and values. CSV cannot contain documents, so it
 * needs no more.
 */
const maxBytes = 64 * 1_048_576

/** Undefined for a text that is not JSON. */
function parsed(bytes: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(bytes.toString('utf8')) }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const tooDeep = { field: '', what: `is nested deeper than ${deepestJson}` }

async function jsonRows(bytes: Buffer, shown: string): Promise<InputRows> {
  if (bytes.length > maxBytes)
    throw new UsageError({
      what: `${shown} has more than ${maxBytes / 1_048_576} MB, the limit of JSON`,
      next: 'write it as NDJSON, an object a line, or as CSV',
    })
  const found = parsed(bytes)
  if (!found) throw new UsageError({ what: `${shown} is not JSON`, next: 'one object, or an array of them' })
  const rows = new RowList(shown)
  const values = Array.isArray(found.value) ? found.value : [found.value]
  for (const [index, value] of values.entries()) {
    const row = index + 1
    if (isDeep(value)) rows.refuse({ row, ...tooDeep })
    else rows.add({ row, read: () => value })
  }
  return rows
}

const isBlank = (line: Buffer): boolean => line.length < 1024 && line.toString('utf8').trim() === ''

async function lineRows(bytes: Buffer, shown: string, signal: AbortSignal): Promise<InputRows> {
  const rows = new RowList(shown)
  const pause = new LoopPause(signal)
  let row = 0
  for (const line of linesOf(bytes)) {
    row += 1
    if (pause.isDue) await pause.take()
    if (isBlank(line)) continue
    const found = parsed(line)
    if (!found) rows.refuse({ row, field: '', what: 'is not JSON' })
    else if (isDeep(found.value)) rows.refuse({ row, ...tooDeep })
    else rows.add({ row, read: () => parsed(line)?.value })
  }
  return rows
}

/** Each column is a field, or part of one as in `address.city`; several trades are separated by `;`. */
async function csvRowsOf(bytes: Buffer, shown: string, signal: AbortSignal): Promise<InputRows> {
  if (bytes.length > maxBytes)
    throw new UsageError({
      what: `${shown} has more than ${maxBytes / 1_048_576} MB, the limit of CSV`,
      next: 'split it into several files',
    })
  try {
    return await taken(csvRows(bytes, { signal }), shown)
  } catch (error) {
    if (!(error instanceof NotCsv)) throw error
    throw new UsageError({ what: `${shown} ${error.message}`, next: 'check quotes and separators there' })
  }
}

async function taken(lines: AsyncGenerator<CsvRow>, shown: string): Promise<InputRows> {
  const rows = new RowList(shown)
  let columns: readonly string[] | undefined
  let row = 0
  for await (const { cells } of lines) {
    row += 1
    if (columns) addRow(rows, { row, columns, cells })
    else columns = takeHeadings(rows, cells)
    // A wrong heading is wrong in every row: it is reported once.
    if (rows.problems[0]?.row === 1) break
  }
  return rows
}

function takeHeadings(rows: RowList, cells: readonly string[]): readonly string[] {
  const columns = cells.map(heading => heading.trim())
  for (const problem of headingProblems(columns)) rows.refuse(problem)
  return columns
}

interface RowCells {
  readonly row: number
  readonly columns: readonly string[]
  readonly cells: readonly string[]
}

function addRow(rows: RowList, { row, columns, cells }: RowCells): void {
  if (cells.every(cell => cell.trim() === '')) return
  if (cells.length !== columns.length) {
    rows.refuse({ row, field: '', what: `has ${cells.length} cells below ${columns.length} headings` })
    return
  }
  const value = rowValue(columns, cells)
  rows.add({ row, read: () => value })
}

const documentFields = ['attachments', 'rightToWork']
const flatFields = [
  'id',
  ...workerFields.filter(field => field !== 'address' && !documentFields.includes(field)),
]

function headingProblems(columns: readonly string[]): RowProblem[] {
  return columns.flatMap((column, index) => {
    const problem = (what: string) => [{ row: 1, field: shortKey(column), what }]
    if (column === '') return [{ row: 1, field: '', what: `has no heading in column ${index + 1}` }]
    if (columns.indexOf(column) < index) return problem('is a duplicate heading')
    if (documentFields.includes(column.split(/[.[]/)[0] ?? '')) {
      return problem('is not allowed in CSV: give documents in JSON')
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

type RowsReader = (bytes: Buffer, shown: string, signal: AbortSignal) => Promise<InputRows>

const readers: Readonly<Record<string, RowsReader>> = {
  '.json': jsonRows,
  '.ndjson': lineRows,
  '.jsonl': lineRows,
  '.csv': csvRowsOf,
  '.tsv': csvRowsOf,
  '.txt': csvRowsOf,
}

/** `shown` is the file as the user named it. Throws UsageError for a file that cannot be read at all. */
export async function readRows(file: string, shown: string, signal: AbortSignal): Promise<InputRows> {
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

/** Maximum bytes of an input file, including documents in it. */
const largestInput = 256 * 1_048_576

function bytesOf(file: string, shown: string): Buffer {
  const read = readInputUtf8(file, { maxBytes: largestInput })
  if (Buffer.isBuffer(read)) return read
  throw new UsageError({ what: `${shown} ${read.why}`, next: 'name a file of workers in UTF-8' })
}
