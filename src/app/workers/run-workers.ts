/** What `workers create` and `workers update` share: read, check everything, send, report row by row. */
import { dirname, resolve } from 'node:path'
import type { Client } from '../../api/client/client.ts'
import { type CommandModule, flagOption, type Options, textOption } from '../../cli/command.ts'
import type { CommandContext } from '../../cli/context.ts'
import type { ExitStatus } from '../../cli/exit-status.ts'
import { openQuestions } from '../connection/questions.ts'
import { type Checked, checkRows, type Operation, type Target } from './check-rows.ts'
import { alone } from './one-run.ts'
import { OutcomeFile } from './outcome-file.ts'
import { type Problem, problemLine } from './problem.ts'
import { printReport } from './report.ts'
import { readRows } from './rows.ts'
import { type Result, sendRows } from './send-rows.ts'
import { chosenAgency, requireAgencyKey, requireScope } from './writing-key.ts'

export const workerOptions: NonNullable<CommandModule['options']> = [
  { flags: '--agency <id>', summary: 'agency to write for; needed when the key spans several' },
  { flags: '--skip-invalid', summary: 'send the valid rows although others are not' },
  { flags: '--dry-run', summary: 'check everything, send nothing' },
]

interface Input {
  /** As the user named it. */
  readonly shown: string
  readonly file: string
  readonly operation: Operation
}

export async function runWorkers(
  context: CommandContext,
  operation: Operation,
  { file: shown = '', options }: { readonly file: string | undefined; readonly options: Options },
): Promise<ExitStatus> {
  const input = { shown, file: resolve(context.cwd, shown), operation }
  const connection = context.connection()
  const named = textOption(options, 'agency')
  const target = { operation, baseUrl: connection.baseUrl, agency: named, folder: dirname(input.file) }
  const checked = checkInput(input, target)
  for (const problem of checked.problems) context.stderr.write(`${problemLine(shown, problem)}\n`)
  const isSkipping = flagOption(options, 'skipInvalid') && checked.ready.length > 0
  const isRefused = checked.problems.length > 0 && !isSkipping
  if (isRefused || flagOption(options, 'dryRun')) {
    printReport(context, input, { results: [], problems: checked.problems, unsent: checked.ready.length })
    return checked.problems.length > 0 ? 2 : 0
  }
  const { client, close } = await openQuestions(connection, context)
  try {
    const key = await client.getMe()
    requireAgencyKey(key)
    requireScope(key, 'write:workers')
    const agency = chosenAgency(key, named)
    return await alone(input, () =>
      sendAll(context, input, { client, target: { ...target, agency }, checked }),
    )
  } finally {
    await close()
  }
}

function checkInput({ file, shown }: Input, target: Target): Checked {
  const { rows, problems } = readRows(file, shown)
  // A wrong heading is wrong in every row: said once.
  if (problems.some(({ row }) => row === 1 && file.toLowerCase().endsWith('.csv')))
    return { ready: [], problems }
  const checked = checkRows(rows, target)
  return { ready: checked.ready, problems: [...problems, ...checked.problems].sort(byRow) }
}

const byRow = (left: Problem, right: Problem): number => left.row - right.row

interface Work {
  readonly client: Client
  readonly target: Target
  readonly checked: Checked
}

/** Between two lines of progress, in milliseconds. */
const PROGRESS_MS = 2_000

async function sendAll(
  context: CommandContext,
  input: Input,
  { client, target, checked }: Work,
): Promise<ExitStatus> {
  const outcomes = new OutcomeFile(`${input.file}.outcome.ndjson`, `${input.shown}.outcome.ndjson`)
  const results: Result[] = []
  let shownAt = context.clock.now()
  const failure = await sendRows(checked.ready, {
    client,
    target,
    outcomes,
    clock: context.clock,
    signal: context.signal,
    onResult: result => {
      results.push(result)
      if (context.globals.quiet || context.clock.now() - shownAt < PROGRESS_MS) return
      shownAt = context.clock.now()
      context.stderr.write(`workers  ${results.length} of ${checked.ready.length} rows\n`)
    },
  })
  const unsent = checked.ready.length - results.length
  printReport(context, input, { results, problems: checked.problems, unsent })
  if (failure !== undefined) throw failure
  const isDone = results.every(({ outcome }) => ['created', 'updated', 'done before'].includes(outcome))
  return isDone && checked.problems.length === 0 ? 0 : 1
}
