/** The values of a query's answer as JSON. */
import type { QueryResult } from './query.ts'

type Row = QueryResult['rows'][number]

/** JSON has no number for these, and null would be another value: they are texts, as in PostgreSQL's own JSON. */
const finite = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : value

export const valueJson = (value: unknown): string => JSON.stringify(value ?? null, finite)

/** The columns in the order of the query: an object would put names such as `2025` first. */
export const rowJson = (names: readonly string[], row: Row): string =>
  `{${names.map(name => `${JSON.stringify(name)}:${valueJson(row[name])}`).join(',')}}`

/** The same, a column a line. */
export function tallRowJson(names: readonly string[], row: Row): string {
  if (names.length === 0) return '{}'
  const lines = names.map(name => {
    const value = JSON.stringify(row[name] ?? null, finite, 2).replaceAll('\n', '\n  ')
    return `\n  ${JSON.stringify(name)}: ${value}`
  })
  return `{${lines.join(',')}\n}`
}
