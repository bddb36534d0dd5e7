/** Records how the tasks of a DAG ended; the warehouse is open only for the moment of writing. */

import type { Connection } from '../../config/connection.ts'
import { MusterError } from '../../lib/errors.ts'
import { migrate } from '../../state/migrate.ts'
import { recordNight } from '../../state/runs/nights.ts'
import { newRunId, recordDagTasks } from '../../state/runs/runs.ts'
import type { DagRunRow, DagTaskRow } from '../../state/runs/tables.ts'
import { isMade, openToWrite } from '../connection/warehouse.ts'
import type { Surroundings } from '../surroundings.ts'
import { nightOf, type TaskOutcome } from './run-dag.ts'

export interface DagLedger {
  record(outcome: TaskOutcome): Promise<void>
  /** Records the whole run, and what could not be written before; returns why that failed, if it did. */
  finish(outcomes: readonly TaskOutcome[]): Promise<Error | undefined>
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

interface Waiting {
  tasks: DagTaskRow[]
  run?: DagRunRow
}

async function write(connection: Connection, { tasks, run }: Waiting, now: string): Promise<void> {
  const engine = await openToWrite(connection)
  try {
    await migrate(engine, now)
    await recordDagTasks(engine, tasks)
    if (run) await recordNight(engine, run)
  } finally {
    await engine.close()
  }
}

/** A failure to record never fails the DAG: its tasks have run all the same. */
export function openDagLedger(context: DagContext, dag: string): DagLedger {
  const { clock, rng } = context
  const dagRunId = newRunId(clock, rng)
  const startedAt = instant(clock.now())
  const waiting: Waiting = { tasks: [] }
  const flush = async (): Promise<Error | undefined> => {
    const connection = connectionOf(context)
    // Usually the first task creates the file.
    if (!connection || (waiting.tasks.length === 0 && !waiting.run)) return undefined
    try {
      if (!isMade(connection)) return undefined
      await write(connection, waiting, instant(clock.now()))
      waiting.tasks = []
      delete waiting.run
      return undefined
    } catch (error) {
      if (error instanceof Error) return error
      throw error
    }
  }
  return {
    async record({ task, state, startedAt, finishedAt, error = null }) {
      const times = { started_at: instant(startedAt), finished_at: instant(finishedAt) }
      waiting.tasks.push({ dag_run_id: dagRunId, dag, task, state, ...times, error })
      await flush()
    },
    async finish(outcomes) {
      waiting.run = {
        dag_run_id: dagRunId,
        dag,
        ...nightOf(outcomes),
        started_at: startedAt,
        finished_at: instant(clock.now()),
      }
      return flush()
    },
  }
}
