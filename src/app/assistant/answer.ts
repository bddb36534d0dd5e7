/** What the tools answer: one value, structured and as text; a failure in one line. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { MusterError } from '../../lib/errors.ts'
import type { QueryResult } from '../../warehouse/query.ts'

/** Characters of an answer: more would leave an assistant no room to think. */
const LONGEST = 200_000

export const answer = (value: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
  structuredContent: value,
})

export function failure(error: unknown): CallToolResult {
  const text = error instanceof MusterError ? error.message : `unexpected error: ${String(error)}`
  return { content: [{ type: 'text', text }], isError: true }
}

/** Says whether rows were left out, and why: nobody may take a part for the whole. */
export function rowsAnswer({ columns, rows, isCut }: QueryResult): CallToolResult {
  const kept: Record<string, unknown>[] = []
  let length = 0
  for (const row of rows) {
    length += JSON.stringify(row).length
    if (length > LONGEST) break
    kept.push(row)
  }
  const isLong = kept.length < rows.length
  const reason = isLong ? `of more than ${LONGEST} characters` : 'of the row limit'
  return answer({
    columns: columns.map(({ name }) => name),
    rows: kept,
    truncated: isCut || isLong,
    ...((isCut || isLong) && {
      note: `These are the first ${kept.length} rows, because ${reason}: there are more. Aggregate, or add a where clause.`,
    }),
  })
}
