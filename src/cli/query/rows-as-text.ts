/** Rows of a query, a part at a time: JSON, CSV as RFC 4180 has it, the same for a spreadsheet, or a JSON document a line. */
import { withoutFormula } from '../../dashboard/csv.ts'
import { rowJson, tallRowJson, valueJson } from '../../warehouse/row-json.ts'

type Row = Readonly<Record<string, unknown>>

/** What comes before the rows, between two parts of them, and after the last. */
export interface RowText {
  begin(names: readonly string[]): string
  /** `isFirst`: no rows came before these. There is at least one. */
  rows(names: readonly string[], rows: readonly Row[], isFirst: boolean): string
  end(isEmpty: boolean): string
}

function quoted(text: string): string {
  // An empty text is quoted, so that it is not taken for NULL.
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** `cellOf`: what of a text is written. */
function csvOf(cellOf: (text: string) => string): RowText {
  const field = (value: unknown): string => {
    if (value === null || value === undefined) return ''
    return quoted(cellOf(typeof value === 'object' ? valueJson(value) : String(value)))
  }
  const line = (values: readonly unknown[]): string => `${values.map(field).join(',')}\n`
  return {
    begin: line,
    rows: (names, rows) => rows.map(row => line(names.map(name => row[name]))).join(''),
    end: () => '',
  }
}

const ndjson: RowText = {
  begin: () => '',
  rows: (names, rows) => rows.map(row => `${rowJson(names, row)}\n`).join(''),
  end: () => '',
}

const indented = (names: readonly string[], row: Row): string =>
  tallRowJson(names, row).replaceAll('\n', '\n  ')

/** One array. It is closed only when all of it was written: a part is no JSON, so that nobody takes it for the whole. */
const json: RowText = {
  begin: () => '[',
  rows: (names, rows, isFirst) =>
    `${isFirst ? '' : ','}\n  ${rows.map(row => indented(names, row)).join(',\n  ')}`,
  end: isEmpty => (isEmpty ? ']\n' : '\n]\n'),
}

/** A program gets each text as it is; a spreadsheet would run some. */
export const rowTexts = { csv: csvOf(text => text), spreadsheet: csvOf(withoutFormula), json, ndjson }
