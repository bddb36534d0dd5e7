/** Names by which the rows of a snapshot are known again on other pages and in other passes. */
import { isDeep } from '../../lib/json-depth.ts'
import { jsonValue } from '../../warehouse/exact-json.ts'

const idOf = (row: unknown): unknown => ((row ?? {}) as { readonly id?: unknown }).id

export const hasId = (row: unknown): boolean => typeof idOf(row) === 'string'

/** The JSON of a value with its keys in order and its numbers in one spelling. */
function ordered(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(ordered).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${ordered(one)}`).join()}}`
}

/** The order of keys and the spelling of numbers and texts may differ with every answer: they are no part of a row. */
function contentOf(text: string): string {
  try {
    const value = jsonValue(text)
    return isDeep(value) ? text : ordered(value)
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

/** Rows by their ids, or by their contents: equal ones are two rows only where one page has both. */
export function namesOf(rows: readonly unknown[], texts: readonly string[]): string[] {
  const times = new Map<string, number>()
  return rows.map((row, index) => {
    if (hasId(row)) return idOf(row) as string
    const content = contentOf(texts[index] as string)
    times.set(content, (times.get(content) ?? 0) + 1)
    return `${content} ${times.get(content)}`
  })
}
