/** `muster dag record NAME`: records a run of a DAG whose tasks another scheduler ran, and notifies. */

import { resolve } from 'node:path'
import * as z from 'zod'
import type { Dag } from '../../app/dag/dag-file.ts'
import { openDagLedger } from '../../app/dag/dag-ledger.ts'
import { dagRunEndOf, stateOfCode, type TaskOutcome } from '../../app/dag/run-dag.ts'
import { UsageError } from '../../lib/errors.ts'
import { readInputText, readStreamText } from '../../lib/input-file.ts'
import { didYouMean } from '../../lib/text/nearest.ts'
import type { CommandModule } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { checkedDag, endDagRun } from '../dag-commands.ts'
import { printJson, printLine } from '../terminal/output.ts'

const instant = z.iso.datetime({ offset: true }).transform(text => Date.parse(text))

const reportedTask = z.object({
  task: z.string(),
  state: z.enum(['done', 'failed', 'skipped', 'later']).optional(),
  exitCode: z.int().optional(),
  error: z.string().nullish(),
  startedAt: instant.optional(),
  finishedAt: instant.optional(),
})

const shape = z.object({ dag: z.string().optional(), tasks: z.array(reportedTask) })

/**
 * Reads task outcomes from the JSON that `dag run --json` prints, or a part of it. Returns one outcome per task, in the
 * order of the DAG. Throws UsageError for invalid input.
 */
function readTaskOutcomes(dag: Dag, text: string, now: number): readonly TaskOutcome[] {
  const { dag: name = dag.name, tasks } = parsed(text)
  if (name !== dag.name) throw new UsageError({ what: `these are outcomes of ${name}, not of ${dag.name}` })
  const ids = dag.tasks.map(({ id }) => id)
  const known = new Map<string, TaskOutcome>()
  for (const { task, state, exitCode, error, startedAt = now, finishedAt = now } of tasks) {
    if (!ids.includes(task))
      throw new UsageError({ what: `${dag.name} has no task ${task}${didYouMean(task, ids)}` })
    const meant = state ?? (exitCode === undefined ? undefined : stateOfCode(exitCode))
    if (!meant) throw new UsageError({ what: `task ${task} has neither state nor exitCode` })
    const why = error ?? (exitCode ? `it ended with exit code ${exitCode}` : undefined)
    const times = { startedAt, finishedAt }
    known.set(task, { task, state: meant, ...times, ...(why && meant !== 'done' && { error: why }) })
  }
  const outcomes = new Map<string, TaskOutcome>()
  for (const { id, needs } of dag.tasks)
    outcomes.set(id, known.get(id) ?? missingOutcome(id, { needs, outcomes, now }))
  return [...outcomes.values()]
}

interface MissingContext {
  readonly needs: readonly string[]
  readonly outcomes: ReadonlyMap<string, TaskOutcome>
  readonly now: number
}

/** The input has no outcome for a task that could not begin, or whose machine was lost. */
function missingOutcome(task: string, { needs, outcomes, now }: MissingContext): TaskOutcome {
  const at = { task, startedAt: now, finishedAt: now }
  const blocking = needs.find(need => ['failed', 'skipped'].includes(outcomes.get(need)?.state ?? ''))
  return blocking === undefined
    ? { ...at, state: 'failed', error: 'it did not finish' }
    : { ...at, state: 'skipped', error: `needs ${blocking}, which was not done` }
}

function parsed(text: string): z.infer<typeof shape> {
  const wrong = (why: string): UsageError =>
    new UsageError({
      what: `these are not task outcomes: ${why}`,
      next: 'give what dag run --json prints, as {"tasks": [{"task": "sync", "exitCode": 0}]}',
    })
  try {
    const result = shape.safeParse(JSON.parse(text))
    if (result.success) return result.data
    throw wrong(result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
  } catch (error) {
    if (error instanceof SyntaxError) throw wrong('it is not JSON')
    throw error
  }
}

const maxBytes = 1_048_576

export const command: CommandModule = {
  arguments: [
    { name: '<name>', summary: 'name of a file in dags/, without .yaml', completes: 'dag' },
    { name: '<file>', summary: 'JSON with the outcome of each task; - reads it from stdin' },
  ],
  notes: [
    'The JSON is what muster dag run --json prints; a task needs only its exit code. A task that is left out counts as not run.',
    'The minimum is {"tasks": [{"task": "sync", "exitCode": 0}, {"task": "build", "exitCode": 1}]}.',
    'The run succeeded if every task is done. Notifications are sent as for any other run.',
  ],
  examples: ['muster dag record nightly outcomes.json', 'muster dag record nightly -'],
  run: async (context, [name = '', file = '']) => {
    const dag = await checkedDag(context, name)
    // Fails at once without a connection: nothing could be recorded.
    const connection = context.stored()
    const outcomes = readTaskOutcomes(dag, await textFrom(context, file), context.clock.now())
    const startedAt = Math.min(...outcomes.map(outcome => outcome.startedAt))
    const ledger = openDagLedger({ ...context, connection }, dag, { isComplete: true, startedAt })
    for (const outcome of outcomes) ledger.note(outcome)
    const error = await endDagRun(context, dag.name, { connection, ledger, outcomes })
    if (error) throw error
    const { state, reason } = dagRunEndOf(outcomes)
    if (context.json) printJson(context, { dag: dag.name, state, reason })
    else printLine(context, `${dag.name}: ${state}${reason === null ? '' : `, ${reason}`}`)
    return 0
  },
}

async function textFrom({ cwd, stdin, signal }: CommandContext, file: string): Promise<string> {
  if (file === '-') {
    if (!stdin) throw new UsageError({ what: 'there is no stdin to read the outcomes from' })
    return readStreamText(stdin(), { maxBytes, signal })
  }
  const read = readInputText(resolve(cwd, file), { maxBytes })
  if (typeof read === 'string') return read
  throw new UsageError({ what: `${file} ${read.why}` })
}
