/** CSV with headings: a field a column, `address.city` for a part of one, several trades with `;` between. */
import { CsvError, parse } from 'csv-parse/sync'
import { workerFields } from '../../api/writes/worker-input.ts'
import { didYouMean } from '../../config/nearest.ts'
import { UsageError } from '../../lib/errors.ts'
import type { Problem } from './problem.ts'
import type { Row, Rows } from './row.ts'

export function csvRows(text: string, shown: string): Rows {
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

/** The parser's own words quote the cell. */
function cellsOf(text: string, shown: string): string[][] {
  try {
    return parse(text, { bom: true, relax_column_count: true, skip_empty_lines: false })
  } catch (error) {
    const line = error instanceof CsvError && typeof error.lines === 'number' ? ` at line ${error.lines}` : ''
    throw new UsageError({ what: `${shown} is not CSV${line}`, next: 'check quotes and commas there' })
  }
}

const DOCUMENTS = ['attachments', 'rightToWork']
const FLAT = ['id', ...workerFields.filter(field => field !== 'address' && !DOCUMENTS.includes(field))]

function headingProblems(columns: readonly string[]): Problem[] {
  return columns.flatMap((column, index) => {
    const problem = (what: string) => [{ row: 1, field: column, what }]
    if (column === '') return [{ row: 1, field: '', what: `has no heading in column ${index + 1}` }]
    if (columns.indexOf(column) < index) return problem('is a heading twice')
    if (DOCUMENTS.includes(column.split(/[.[]/)[0] ?? '')) {
      return problem('has no place in CSV: give documents in JSON')
    }
    if (/^address\.\w+$/.test(column) || FLAT.includes(column)) return []
    return problem(`is not a field${didYouMean(column, [...FLAT, 'address.lineOne', 'address.city'])}`)
  })
}

const WORDS: Readonly<Record<string, boolean>> = { true: true, yes: true, false: false, no: false }

/** An empty cell is a field that is left out. */
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
  if (column === 'consent' || column === 'active') return WORDS[cell.toLowerCase()] ?? cell
  return cell
}
