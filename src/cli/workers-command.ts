/** Shared by `muster workers create` and `update`: options, progress, and a report for each row. */
import { resolve } from 'node:path'
import type { WorkerOperation } from '../app/workers/check-rows.ts'
import type { RowProblem } from '../app/workers/rows.ts'
import {
  checkWorkers,
  sendWorkers,
  type WorkersReport,
  type WorkersRequest,
} from '../app/workers/run-workers.ts'
import type { RowResult } from '../app/workers/send-rows.ts'
import { counted } from '../lib/counted.ts'
import type { ExitStatus } from '../lib/errors.ts'
import { type CommandModule, flagOption, type Options, textOption } from './command.ts'
import type { CommandContext } from './context.ts'
import { printJson, printLine, printTable } from './terminal/output.ts'
import { inOneLine } from './terminal/terminal.ts'

export const workerOptions: NonNullable<CommandModule['options']> = [
  { flags: '--agency <id>', summary: 'agency to write for; needed when the key spans several' },
  { flags: '--skip-invalid', summary: 'send the valid rows even if others are invalid' },
  { flags: '--allow-outside', summary: 'let rows name files outside the folder of the input file' },
  { flags: '--dry-run', summary: 'check everything, send nothing' },
]

/** Milliseconds from one line of progress to the next. */
const progressMs = 2_000

export async function runWorkers(
  context: CommandContext,
  operation: WorkerOperation,
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
  printProblems(context, shown, checked.problems)
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

/** Problem lines printed; a user would not read more. */
const maxLines = 1000

function printProblems({ stderr }: CommandContext, shown: string, problems: readonly RowProblem[]): void {
  for (const problem of problems.slice(0, maxLines))
    stderr.write(`${inOneLine(problemLine(shown, problem))}\n`)
  const more = problems.length - maxLines
  if (more > 0) stderr.write(`and ${counted(more, 'more problem')}: --json lists them all\n`)
}

function problemLine(file: string, { row, field, what }: RowProblem): string {
  return field === '' ? `${file}, row ${row} ${what}` : `${file}, row ${row}, ${field} ${what}`
}

/** Prints one line per row, the cases for review separately, and a summary. */
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

function printRows(context: CommandContext, results: readonly RowResult[]): void {
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
