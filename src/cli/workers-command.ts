/** What `muster workers create` and `muster workers update` share: options, progress, and the report row by row. */
import { resolve } from 'node:path'
import type { Operation } from '../app/workers/check-rows.ts'
import type { Problem } from '../app/workers/row-list.ts'
import {
  checkWorkers,
  sendWorkers,
  type WorkersReport,
  type WorkersRequest,
} from '../app/workers/run-workers.ts'
import type { Result } from '../app/workers/send-rows.ts'
import { counted } from '../lib/counted.ts'
import type { ExitStatus } from '../lib/errors.ts'
import { type CommandModule, flagOption, type Options, textOption } from './command.ts'
import type { CommandContext } from './context.ts'
import { printJson, printLine, printTable } from './terminal/output.ts'
import { inOneLine } from './terminal/terminal.ts'

export const workerOptions: NonNullable<CommandModule['options']> = [
  { flags: '--agency <id>', summary: 'agency to write for; needed when the key spans several' },
  { flags: '--skip-invalid', summary: 'send the valid rows although others are not valid' },
  { flags: '--allow-outside', summary: 'read files that a row names outside the folder of the input file' },
  { flags: '--dry-run', summary: 'check everything, send nothing' },
]

/** Milliseconds from one line of progress to the next. */
const progressMs = 2_000

export async function runWorkers(
  context: CommandContext,
  operation: Operation,
  { file: shown = '', options }: { readonly file: string | undefined; readonly options: Options },
): Promise<ExitStatus> {
  const request: WorkersRequest = {
    connection: context.connection(),
    operation,
    file: resolve(context.cwd, shown),
    shown,
    agency: textOption(options, 'agency'),
    allowOutside: flagOption(options, 'allowOutside'),
  }
  const checked = await checkWorkers(request, context.signal)
  tell(context, shown, checked.problems)
  const isSkipping = flagOption(options, 'skipInvalid') && checked.ready.length > 0
  const isRefused = checked.problems.length > 0 && !isSkipping
  if (isRefused || flagOption(options, 'dryRun')) {
    printReport(context, request, {
      results: [],
      problems: checked.problems,
      unsent: checked.ready.length,
    })
    return checked.problems.length > 0 ? 2 : 0
  }
  let shownAt = context.clock.now()
  const onProgress = (rows: number): void => {
    if (context.clock.now() - shownAt < progressMs) return
    shownAt = context.clock.now()
    context.notice(`workers  ${rows} of ${checked.ready.length} rows`)
  }
  const report = await sendWorkers(request, checked, { ...context, onProgress })
  printReport(context, request, report)
  if (report.failure !== undefined) throw report.failure
  const isDone = report.results.every(({ outcome }) =>
    ['created', 'updated', 'done before'].includes(outcome),
  )
  return isDone && checked.problems.length === 0 ? 0 : 1
}

/** Lines for people: more of them nobody reads. */
const mostLines = 1000

function tell({ stderr }: CommandContext, shown: string, problems: readonly Problem[]): void {
  for (const problem of problems.slice(0, mostLines))
    stderr.write(`${inOneLine(problemLine(shown, problem))}\n`)
  const more = problems.length - mostLines
  if (more > 0) stderr.write(`and ${counted(more, 'more problem')}: --json lists them all\n`)
}

function problemLine(file: string, { row, field, what }: Problem): string {
  return field === '' ? `${file}, row ${row} ${what}` : `${file}, row ${row}, ${field} ${what}`
}

/** A line a row, the cases for review apart, and one line that sums up. */
function printReport(
  context: CommandContext,
  { shown, operation }: WorkersRequest,
  report: WorkersReport,
): void {
  const { results, problems } = report
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
  const parts = Object.entries(countsOf(report)).filter(([, count]) => count > 0)
  printLine(context, parts.map(([name, count]) => `${count} ${name}`).join(', '))
  if (results.length > 0)
    printLine(
      context,
      `Recorded in ${shown}.outcome.ndjson: a second run sends only the rows that are not done`,
    )
}

function printRows(context: CommandContext, results: readonly Result[]): void {
  printTable(
    context,
    ['row', 'worker', 'outcome', 'id', 'reference', { title: 'note', breaks: true }],
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

function countsOf({ results, problems, unsent }: WorkersReport): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { outcome } of results) counts[outcome] = (counts[outcome] ?? 0) + 1
  const { unsent: tried = 0, ...others } = counts
  return {
    ...others,
    'not sent': tried + unsent,
    'invalid rows': new Set(problems.map(({ row }) => row)).size,
  }
}
