/** Writes rows as CSV that a spreadsheet opens safely: no cell becomes a formula. */
import type { PanelRow } from './answers.ts'

/** A spreadsheet runs a text with such a beginning, full-width characters included. Negative numbers are not formulas. */
const isFormula = (text: string): boolean =>
  /^[=+\-@\t\r\n＝＋－＠]/.test(text) && !/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)

/** A leading apostrophe turns a formula into text. */
export const withoutFormula = (text: string): string => (isFormula(text) ? `'${text}` : text)

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const safe = withoutFormula(String(value))
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export const toCsv = (columns: readonly string[], rows: readonly PanelRow[]): string =>
  [columns, ...rows.map(row => columns.map(name => row[name]))]
    .map(values => `${values.map(cell).join(',')}\r\n`)
    .join('')
