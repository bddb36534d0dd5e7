/** Records how the tasks of a DAG ended; the warehouse is open only for the moment of writing. */

import type { StoredConnection } from '../../config/connection.ts'
import { migrate } from '../../state/migrate.ts'
import { recordNight } from '../../state/runs/nights.ts'
import { newRunId, recordDagTasks } from '../../state/runs/runs.ts'
import type { DagTaskRow } from '../../state/runs/tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { isMade, openToWrite } from '../connection/warehouse.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Dag } from './dag-file.ts'
import { mendedNight } from './mended-night.ts'
import { type NightTask, nightOf, type TaskOutcome } from './run-dag.ts'

export interface DagLedger {
  /** Kept until the next writing. */
  note(outcome: TaskOutcome): void
  record(outcome: TaskOutcome): Promise<void>
  /** Records the run as a night, if it is one, and what could not be written before. */
  finish(outcomes: readonly TaskOutcome[]): Promise<FinishedRun>
}

export interface FinishedRun {
  /** The tasks of the night that it was, or made whole; undefined for a part of a DAG that makes none whole. */
  readonly night: readonly NightTask[] | undefined
  /** Why it could not be recorded. */
  readonly error?: Error
}

interface DagContext extends Pick<Surroundings, 'clock' | 'rng'> {
  /** Where it is written; undefined where there is no one connection that the DAG belongs to. */
  readonly connection: StoredConnection | undefined
}

const instant = (ms: number): string => new Date(ms).toISOString()

const taskRow = (
  { task, state, startedAt, finishedAt, error }: TaskOutcome,
  run: Pick<DagTaskRow, 'dag_run_id' | 'dag'>,
): DagTaskRow => ({
  ...run,
  task,
  state,
  started_at: instant(startedAt),
  finished_at: instant(finishedAt),
  error: error ?? null,
})

interface Ran {
  /** Whether all tasks of the DAG are run. */
  readonly isWhole: boolean
  /** Milliseconds since the epoch; now when left out. */
  readonly startedAt?: number
}

/** A failure to record never fails the DAG: its tasks have run all the same. `dag` has all of its tasks, also where a part runs. */
export function openDagLedger(context: DagContext, dag: Dag, { isWhole, startedAt: begun }: Ran): DagLedger {
  const { clock, rng, connection } = context
  const dagRunId = newRunId(clock, rng)
  const startedAt = instant(begun ?? clock.now())
  let waiting: DagTaskRow[] = []
  const write = async (work: (engine: Engine) => Promise<void>): Promise<Error | undefined> => {
    try {
      // Usually the first task creates the file.
      if (!connection || !isMade(connection)) return undefined
      const engine = await openToWrite(connection)
      try {
        await migrate(engine, instant(clock.now()))
        await work(engine)
      } finally {
        await engine.close()
      }
      return undefined
    } catch (error) {
      if (error instanceof Error) return error
      throw error
    }
  }
  const flush = async (engine: Engine): Promise<void> => {
    await recordDagTasks(engine, waiting)
    waiting = []
  }
  const rowOf = (outcome: TaskOutcome): DagTaskRow =>
    taskRow(outcome, { dag_run_id: dagRunId, dag: dag.name })
  return {
    note: outcome => void waiting.push(rowOf(outcome)),
    async record(outcome) {
      waiting.push(rowOf(outcome))
      await write(flush)
    },
    async finish(outcomes) {
      let night: readonly NightTask[] | undefined = isWhole ? outcomes : undefined
      const error = await write(async engine => {
        await flush(engine)
        if (isWhole) {
          const times = { started_at: startedAt, finished_at: instant(clock.now()) }
          return recordNight(engine, { dag_run_id: dagRunId, dag: dag.name, ...nightOf(outcomes), ...times })
        }
        const mended = await mendedNight(engine, dag, { rows: outcomes.map(rowOf), endedAt: clock.now() })
        if (!mended) return
        await recordDagTasks(engine, mended.tasks)
        await recordNight(engine, mended.run)
        if (mended.run.state === 'done') night = mended.tasks
      })
      return { night, ...(error && { error }) }
    },
  }
}
