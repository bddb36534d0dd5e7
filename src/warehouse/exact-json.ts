/** Parses JSON without losing digits of numbers, and writes rows of a query result as JSON. */
import type { QueryResult } from './query.ts'

const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Decimal digits that a double always keeps. */
const exactDigits = 15

function isExact(number: string): boolean {
  if (Number.isSafeInteger(Number(number)) && /^-?\d+$/.test(number)) return true
  const [mantissa = ''] = number.split(/e/i)
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '')
  return digits.length <= exactDigits && Number.isFinite(Number(number))
}

/** Returns a number that a double cannot hold as text, as in a column. Throws SyntaxError if the text is not JSON. */
export const jsonValue = (text: string): unknown =>
  JSON.parse(text.replace(token, part => (part.startsWith('"') || isExact(part) ? part : `"${part}"`)))

type ResultRow = QueryResult['rows'][number]

/** Infinity and NaN become texts, as in PostgreSQL's JSON: JSON has no such numbers, and null would be another value. */
const finite = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : value

export const valueJson = (value: unknown): string => JSON.stringify(value ?? null, finite)

/** Keeps columns in the order of the query: an object would put names such as `2025` first. */
export const rowJson = (names: readonly string[], row: ResultRow): string =>
  `{${names.map(name => `${JSON.stringify(name)}:${valueJson(row[name])}`).join(',')}}`

/** The same, one column per line. */
export function tallRowJson(names: readonly string[], row: ResultRow): string {
  if (names.length === 0) return '{}'
  const lines = names.map(name => {
    const value = JSON.stringify(row[name] ?? null, finite, 2).replaceAll('\n', '\n  ')
    return `\n  ${JSON.stringify(name)}: ${value}`
  })
  return `{${lines.join(',')}\n}`
}
