/** The line that an alteration of SQL changes, before and after, without the space around it. */
import { altered, type SqlMutant } from './mutants.ts'

export function placeOf(sql: string, mutant: SqlMutant) {
  const before = sql.slice(0, mutant.start)
  const from = before.lastIndexOf('\n') + 1
  const end = sql.indexOf('\n', mutant.end)
  const to = end < 0 ? sql.length : end
  const shift = mutant.replacement.length - (mutant.end - mutant.start)
  const oneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')
  return {
    lineNumber: before.split('\n').length,
    line: oneLine(sql.slice(from, to)),
    replacement: oneLine(altered(sql, mutant).slice(from, to + shift)),
  }
}
