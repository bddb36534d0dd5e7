/** What became of a file of rows: a line a row, the cases for review apart, and one line that sums up. */
import type { CommandContext } from '../../cli/context.ts'
import { printJson, printLine, printTable } from '../../cli/terminal/output.ts'
import type { Problem } from './problem.ts'
import type { Result } from './send-rows.ts'

export interface Report {
  readonly results: readonly Result[]
  readonly problems: readonly Problem[]
  /** Valid rows that were not sent. */
  readonly unsent: number
}

interface Input {
  readonly shown: string
  readonly operation: string
}

export function printReport(context: CommandContext, { shown, operation }: Input, report: Report): void {
  const { results, problems, unsent } = report
  const review = results.filter(({ outcome }) => outcome === 'review')
  const others = results.filter(({ outcome }) => outcome !== 'review')
  if (context.json) {
    printJson(context, {
      file: shown,
      operation,
      counts: countsOf(report),
      results: others,
      review,
      invalid: problems,
    })
    return
  }
  if (others.length > 0) printRows(context, others)
  if (review.length > 0) {
    printLine(context, `\nFor review, because a matching worker exists (nothing was created):`)
    printRows(context, review)
  }
  const parts = Object.entries(countsOf({ results, problems, unsent })).filter(([, count]) => count > 0)
  printLine(context, parts.map(([name, count]) => `${count} ${name}`).join(', '))
  if (results.length > 0)
    printLine(context, `Kept in ${shown}.outcome.ndjson: a second run sends only what is not done`)
}

function printRows(context: CommandContext, results: readonly Result[]): void {
  const titles = ['row', 'worker', 'outcome', 'id', 'reference', 'note']
  printTable(
    context,
    titles,
    results.map(({ row, worker, outcome, id, reference, note }) => [
      row,
      worker,
      outcome,
      id,
      reference,
      note,
    ]),
  )
}

function countsOf({ results, problems, unsent }: Report): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { outcome } of results) counts[outcome] = (counts[outcome] ?? 0) + 1
  const { unsent: tried = 0, ...others } = counts
  return {
    ...others,
    'not sent': tried + unsent,
    'invalid rows': new Set(problems.map(({ row }) => row)).size,
  }
}
