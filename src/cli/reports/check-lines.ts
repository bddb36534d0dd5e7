/** What `muster check` tells people: one line a failing check and table, worst first, and one that adds up. */
import { counted } from '../../lib/counted.ts'
import { type CheckResult, failedRows } from '../../marts/checks/run.ts'
import { formatSeconds } from '../terminal/output.ts'

const isError = ({ severity }: CheckResult): boolean => severity === 'error'

/** Errors before warnings, each with what to do. */
export function failureLines(results: readonly CheckResult[]): string[] {
  const worstFirst = [...results].sort((one, other) => Number(isError(other)) - Number(isError(one)))
  return worstFirst.flatMap(({ name, severity, summary, next, failures }) =>
    failures.map(({ subject, rows, samples }) => {
      const more = rows > samples.length ? ', ...' : ''
      const found = `${counted(rows, 'row')} of ${subject} (${samples.join('; ')}${more})`
      return `${severity} ${name}: ${found}. ${summary} Next: ${next}`
    }),
  )
}

/** `skipped` are checks of marts that were never built. */
export function summaryLine(
  results: readonly CheckResult[],
  { skipped, milliseconds }: { skipped: number; milliseconds: number },
): string {
  const failing = results.filter(result => failedRows(result) > 0)
  const errors = failing.filter(isError).length
  const asked = `${counted(results.length, 'check')} in ${formatSeconds(milliseconds)}`
  const left = skipped > 0 ? `; ${skipped} wait for marts that were not built yet` : ''
  if (failing.length === 0) return `all pass: ${asked}${left}`
  const bad = [
    errors > 0 && counted(errors, 'error'),
    failing.length > errors && counted(failing.length - errors, 'warning'),
  ].filter(Boolean)
  return `${bad.join(', ')}: ${results.length - failing.length} of ${asked} pass${left}`
}
