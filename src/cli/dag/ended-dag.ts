/** What `dag run` and `dag record` share: the end of a DAG in the ledger, the message about it, and its outcome on the terminal. */

import type { DagLedger } from '../../app/dag/dag-ledger.ts'
import type { TaskOutcome } from '../../app/dag/run-dag.ts'
import { tellNight } from '../../app/dag/tell-night.ts'
import type { StoredConnection } from '../../config/connection.ts'
import { soonAfter } from '../../lib/time/soon-after.ts'
import { messageTask } from '../../state/runs/told.ts'
import type { CommandContext } from '../context.ts'
import { lastWordsMs } from '../stop-signal.ts'
import { printJson, printTable } from '../terminal/output.ts'

interface Ended {
  readonly connection: StoredConnection | undefined
  readonly ledger: DagLedger
  readonly outcomes: readonly TaskOutcome[]
}

/** Returns why the end could not be recorded. Whoever runs a single task sees how it ends: only nights are told of. */
export async function endNight(
  context: CommandContext,
  dag: string,
  { connection, ledger, outcomes }: Ended,
): Promise<Error | undefined> {
  const { clock, cwd, env, stderr, signal } = context
  const { night, error } = await ledger.finish(outcomes)
  if (error) stderr.write(`warning: how the tasks ended could not be recorded: ${error.message}\n`)
  if (!night) return error
  const startedAt = clock.now()
  const told = await tellNight(
    {
      connection,
      cwd,
      env,
      hide: text => context.hidden(text),
      signal: soonAfter(signal, lastWordsMs),
      warn: line => void stderr.write(`warning: ${line}\n`),
    },
    dag,
    night,
  )
  if (told) await ledger.record({ task: messageTask, ...told, startedAt, finishedAt: clock.now() })
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
