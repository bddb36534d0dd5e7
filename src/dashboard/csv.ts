/** Rows as CSV that a spreadsheet opens as it is, and as nothing else: no cell becomes a formula. */
import type { Row } from './answers.ts'

/** A spreadsheet runs a text that begins so, where people type wide characters also with those. Numbers below 0 are numbers. */
const isFormula = (text: string): boolean =>
  /^[=+\-@\t\r\n＝＋－＠]/.test(text) && !/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)

/** An apostrophe makes it a text. */
export const withoutFormula = (text: string): string => (isFormula(text) ? `'${text}` : text)

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const safe = withoutFormula(String(value))
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export const toCsv = (columns: readonly string[], rows: readonly Row[]): string =>
  [columns, ...rows.map(row => columns.map(name => row[name]))]
    .map(values => `${values.map(cell).join(',')}\r\n`)
    .join('')
