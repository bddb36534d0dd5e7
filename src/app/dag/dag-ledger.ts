/** Records how the tasks of a DAG ended; the warehouse is open only for the moment of writing. */

import type { Connection } from '../../config/connection.ts'
import { MusterError } from '../../lib/errors.ts'
import { migrate } from '../../state/migrate.ts'
import { newRunId, recordDagTasks } from '../../state/runs/runs.ts'
import type { DagTaskRow } from '../../state/runs/tables.ts'
import { isMade, openToWrite } from '../connection/warehouse.ts'
import type { Surroundings } from '../surroundings.ts'
import type { TaskOutcome } from './run-dag.ts'

export interface DagLedger {
  record(outcome: TaskOutcome): Promise<void>
  /** Writes what could not be written before; returns why that failed, if it did. */
  finish(): Promise<Error | undefined>
}

interface DagContext extends Pick<Surroundings, 'clock' | 'rng'> {
  /** Throws MusterError when the settings name none. */
  connection(): Connection
}

const instant = (ms: number): string => new Date(ms).toISOString()

/** Without settings there is no warehouse to write to; the tasks themselves report what is missing. */
function connectionOf(context: DagContext): Connection | undefined {
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

/** A failure to record never fails the DAG: its tasks have run all the same. */
export function openDagLedger(context: DagContext, dag: string): DagLedger {
  const { clock, rng } = context
  const dagRunId = newRunId(clock, rng)
  const waiting: DagTaskRow[] = []
  const flush = async (): Promise<Error | undefined> => {
    const connection = connectionOf(context)
    // Usually the first task creates the file.
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
    finish: flush,
  }
}
