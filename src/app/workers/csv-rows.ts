/** Rows of CSV with headings: a field a column, `address.city` for a part of one, several trades separated by `;`. */
import { workerFields } from '../../api/writes/worker-input.ts'
import { UsageError } from '../../lib/errors.ts'
import { shortKey } from '../../lib/field-path.ts'
import { didYouMean } from '../../lib/text/nearest.ts'
import { type CsvRow, NotCsv, csvRows as rowsIn } from '../input/csv-rows.ts'
import { type Problem, RowList, type Rows } from './row-list.ts'

/** Bytes: documents, which make other inputs large, have no place in CSV. */
const largestCsv = 64 * 1_048_576

export async function csvRows(bytes: Buffer, shown: string, signal: AbortSignal): Promise<Rows> {
  if (bytes.length > largestCsv)
    throw new UsageError({
      what: `${shown} has more than ${largestCsv / 1_048_576} MB, the limit of CSV`,
      next: 'split it into several files',
    })
  try {
    return await taken(rowsIn(bytes, { signal }), shown)
  } catch (error) {
    if (!(error instanceof NotCsv)) throw error
    throw new UsageError({ what: `${shown} ${error.message}`, next: 'check quotes and separators there' })
  }
}

async function taken(lines: AsyncGenerator<CsvRow>, shown: string): Promise<Rows> {
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

interface Cells {
  readonly row: number
  readonly columns: readonly string[]
  readonly cells: readonly string[]
}

function addRow(rows: RowList, { row, columns, cells }: Cells): void {
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

function headingProblems(columns: readonly string[]): Problem[] {
  return columns.flatMap((column, index) => {
    const problem = (what: string) => [{ row: 1, field: shortKey(column), what }]
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
