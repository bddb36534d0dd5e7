/** Rows of a query for programs: CSV as RFC 4180 has it, or a JSON document a line. */
type Row = Readonly<Record<string, unknown>>

function field(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  // An empty text is quoted, so that it is not taken for NULL.
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export function csvOf(names: readonly string[], rows: readonly Row[]): string {
  const lines = [names, ...rows.map(row => names.map(name => row[name]))]
  return lines.map(values => `${values.map(field).join(',')}\n`).join('')
}

export const ndjsonOf = (rows: readonly Row[]): string => rows.map(row => `${JSON.stringify(row)}\n`).join('')
