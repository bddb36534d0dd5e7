/** Reads the comment above a statement of `sql/mart` and `sql/check`, which declares its result. */
import { recordTables } from '../contract/derived/sql-rows.ts'

export interface Header {
  /** The sentences before the first field. */
  readonly summary: string
  /** The text after `Grain:`, `Sources:` and the like, each joined to one line. */
  readonly fields: ReadonlyMap<string, string>
  /** The lines below `Columns:`, each joined with its indented continuation. */
  readonly columns: readonly string[]
  /** The statement, without a semicolon. */
  readonly body: string
}

const commented = /^--(?: (.*))?$/
const field = /^([A-Z][a-z]+):(?: (.*))?$/
/** An entry of the list is indented by two spaces; a line indented further continues the previous entry. */
const listed = /^ {2}(\S.*)$/

const joined = (before: string | undefined, text: string): string =>
  before ? `${before} ${text}`.trim() : text.trim()

export function readHeader(text: string): Header {
  const lines = text.split('\n')
  const end = lines.findIndex(line => !commented.test(line.trimEnd()))
  const body = lines.slice(end).join('\n').trim().replace(/;$/, '')
  const fields = new Map<string, string>()
  const columns: string[] = []
  let summary = ''
  let current: string | undefined
  for (const line of lines.slice(0, end)) {
    const words = commented.exec(line.trimEnd())?.[1] ?? ''
    const [, name, rest = ''] = field.exec(words) ?? []
    if (name) {
      current = name
      fields.set(name, rest)
    } else if (current === 'Columns') {
      const entry = listed.exec(words)?.[1]
      if (entry) columns.push(entry)
      else columns.push(joined(columns.pop(), words.trim()))
    } else if (current) fields.set(current, joined(fields.get(current), words.trim()))
    else summary = joined(summary, words)
  }
  return { summary, fields, columns, body }
}

/** `star.a, mart.b` as names; `every resource` stands for the record tables of all resources. */
export const namesOf = (list: string): string[] =>
  list
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '')
    .flatMap(name => (name === 'every resource' ? recordTables() : [name]))
