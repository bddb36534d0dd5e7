/** Shared by the DAG commands: checks tasks before the first one runs, finds the connection, records and reports the end. */
import { type Dag, dagNamed, fileOfDag } from '../app/dag/dag-file.ts'
import type { DagLedger } from '../app/dag/dag-ledger.ts'
import type { TaskOutcome } from '../app/dag/run-dag.ts'
import { notifyOfChanges } from '../app/notify/notify.ts'
import type { StoredConnection } from '../config/connection.ts'
import { ConfigError, UsageError } from '../lib/errors.ts'
import type { CommandContext } from './context.ts'
import { printJson, printTable } from './terminal/output.ts'
import { notificationContext } from './wrappers/notifications.ts'

/** Throws a ConfigError that names every task with wrong arguments. */
export async function requireArguments(
  { program }: CommandContext,
  { tasks }: Pick<Dag, 'tasks'>,
  file: string,
): Promise<void> {
  const mistakes: string[] = []
  for (const { id, run, args } of tasks) {
    const why = await program.refusal([...run.split(' '), ...args])
    if (why !== undefined) mistakes.push(`task ${id}: ${why.replace(/ \(see muster --help\)$/, '')}`)
  }
  if (mistakes.length > 0) throw new ConfigError({ what: `${file}: ${mistakes.join('; ')}` })
}

/** Reads a DAG and checks the arguments of all its tasks before the first one runs. */
export async function checkedDag(context: CommandContext, name: string): Promise<Dag> {
  const dag = dagNamed(name, context.cwd, context.program.commandNames)
  await requireArguments(context, dag, fileOfDag(name, context.cwd))
  return dag
}

/**
 * The connection whose ledger, notifications and waiting time a DAG uses. Called before any task runs, so that wrong settings
 * or an unknown connection fail the command. Undefined without settings, or with several connections and none named: each
 * task then reports what it needs.
 */
export function connectionOfDag(context: CommandContext): StoredConnection | undefined {
  if (!context.hasSettings()) return undefined
  try {
    return context.stored()
  } catch (error) {
    if (error instanceof UsageError && context.globals.connection === undefined) return undefined
    throw error
  }
}

/** How long a DAG waits for a command run by hand, unless the settings say otherwise. */
export const defaultWaitMinutes = 10

interface EndedDag {
  readonly connection: StoredConnection | undefined
  readonly ledger: DagLedger
  readonly outcomes: readonly TaskOutcome[]
}

/** Records the end and returns why that failed. Notifies of complete runs only: the user of a single task sees how it ends. */
export async function endDagRun(
  context: CommandContext,
  dag: string,
  { connection, ledger, outcomes }: EndedDag,
): Promise<Error | undefined> {
  const { endedTasks, error } = await ledger.finish(outcomes)
  if (error) context.stderr.write(`warning: how the tasks ended could not be recorded: ${error.message}\n`)
  if (connection?.notify) {
    const run = endedTasks && { dag, tasks: endedTasks }
    await notifyOfChanges(notificationContext(context, connection), run)
  }
  return error
}

export function printOutcomes(context: CommandContext, dag: string, outcomes: readonly TaskOutcome[]): void {
  if (context.json) {
    printJson(context, { dag, tasks: outcomes.map(asJson) })
    return
  }
  printTable(
    context,
    ['task', 'state', 'seconds', { title: 'why', breaks: true }],
    outcomes.map(({ task, state, startedAt, finishedAt, error }) => {
      return [task, state, Math.round((finishedAt - startedAt) / 100) / 10, error]
    }),
  )
}

function asJson({ startedAt, finishedAt, ...rest }: TaskOutcome) {
  return {
    ...rest,
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: new Date(finishedAt).toISOString(),
  }
}
