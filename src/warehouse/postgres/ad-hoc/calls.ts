/** Which functions a query can call: the names in the places of a call, where texts end by `standard_conforming_strings`. */
import { tokensOf } from '../../sql-tokens.ts'

export interface Calls {
  /** Called with any argument: `name(...)`, and `(value).name`, which is the same. Lower case, as all of these. */
  readonly functions: readonly string[]
  /** `table.name` is a column, or a call with the row of the table. */
  readonly ofRows: readonly string[]
  /** Every word and name wherever it is written, also in a text or a comment. */
  readonly words: readonly string[]
}

const plainName = (text: string): string =>
  text.slice(1, text.endsWith('"') ? -1 : undefined).replaceAll('""', '"')

export function callsIn(sql: string): Calls {
  const functions = new Set<string>()
  const ofRows = new Set<string>()
  let last: string | undefined
  let isDotted = false
  let isOfValue = true
  for (const { kind, text } of tokensOf(sql)) {
    if (kind === 'space') continue
    if (kind === 'word' || kind === 'name') {
      last = (kind === 'name' ? plainName(text) : text).toLowerCase()
      if (!isDotted) isOfValue = false
      else if (isOfValue) functions.add(last)
      else ofRows.add(last)
      isDotted = false
      continue
    }
    if (text === '(' && last !== undefined) functions.add(last)
    isDotted = text === '.'
    if (!isDotted) isOfValue = true
    last = undefined
  }
  const words = new Set(sql.toLowerCase().match(/[\p{L}_][\p{L}\p{N}_$]*/gu) ?? [])
  return { functions: [...functions], ofRows: [...ofRows], words: [...words] }
}

/** Whether a name is written as U&"...", of which the letters are numbers. */
export function hasNumberedName(sql: string): boolean {
  const code = [...tokensOf(sql)].map(({ kind, text }) =>
    kind === 'text' ? "''" : kind === 'space' ? ' ' : text,
  )
  return /u&"/i.test(code.join(''))
}
