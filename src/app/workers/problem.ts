/** What is wrong in an input file, one line each, without the values: they are of people. */

export interface Problem {
  /** As a spreadsheet or an editor counts it, from 1. */
  readonly row: number
  /** Path of the field; empty when it is the row itself. */
  readonly field: string
  readonly what: string
}

export function problemLine(file: string, { row, field, what }: Problem): string {
  return field === '' ? `${file}, row ${row} ${what}` : `${file}, row ${row}, ${field} ${what}`
}
