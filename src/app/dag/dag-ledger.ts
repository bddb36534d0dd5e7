/** Writes down what became of the tasks of a DAG, holding the warehouse only for the moment of writing. */

import type { CommandContext } from '../../cli/context.ts'
import type { Connection } from '../../config/connection.ts'
import { MusterError } from '../../lib/errors.ts'
import { migrate } from '../../state/migrate.ts'
import { recordDagTasks } from '../../state/runs/dag-tasks.ts'
import { newRunId } from '../../state/runs/run-id.ts'
import type { DagTaskRow } from '../../state/runs/tables.ts'
import { isMade, openToWrite } from '../connection/warehouse.ts'
import type { TaskOutcome } from './run-dag.ts'

export interface DagLedger {
  record(outcome: TaskOutcome): Promise<void>
  /** Writes what could not be written before, or says on stderr that it cannot be. */
  finish(): Promise<void>
}

const instant = (ms: number): string => new Date(ms).toISOString()

/** Without settings there is no warehouse to write to; the tasks say for themselves what is missing. */
function connectionOf(context: CommandContext): Connection | undefined {
  try {
    return context.connection()
  } catch (error) {
    if (error instanceof MusterError) return undefined
    throw error
  }
}

async function write(connection: Connection, rows: readonly DagTaskRow[], now: string): Promise<void> {
  const engine = await openToWrite(connection)
  try {
    await migrate(engine, now)
    await recordDagTasks(engine, rows)
  } finally {
    await engine.close()
  }
}

/** A ledger that cannot be written never fails the DAG: its tasks have done what they did. */
export function openDagLedger(context: CommandContext, dag: string): DagLedger {
  const { clock, rng, stderr } = context
  const dagRunId = newRunId(clock, rng)
  const waiting: DagTaskRow[] = []
  const flush = async (): Promise<unknown> => {
    const connection = connectionOf(context)
    // The first task usually makes the file.
    if (!connection || waiting.length === 0) return undefined
    try {
      if (!isMade(connection)) return undefined
      await write(connection, waiting, instant(clock.now()))
      waiting.length = 0
      return undefined
    } catch (error) {
      if (error instanceof Error) return error
      throw error
    }
  }
  return {
    async record({ task, state, startedAt, finishedAt, error = null }) {
      const times = { started_at: instant(startedAt), finished_at: instant(finishedAt) }
      waiting.push({ dag_run_id: dagRunId, dag, task, state, ...times, error })
      await flush()
    },
    async finish() {
      const problem = await flush()
      if (problem instanceof Error)
        stderr.write(`warning: what became of the tasks is not written down: ${problem.message}\n`)
    },
  }
}
