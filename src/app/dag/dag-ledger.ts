/** Records how the tasks of a DAG ended; opens the warehouse only to write. */

import type { StoredConnection } from '../../config/connection.ts'
import { hourMs } from '../../lib/dates.ts'
import { migrate } from '../../state/migrate.ts'
import { recordDagRun, runToRepair } from '../../state/runs/dag-runs.ts'
import { newRunId, recordDagTasks } from '../../state/runs/runs.ts'
import type { DagRunRow, DagTaskRow } from '../../state/runs/tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { isMade, openToWrite } from '../connection/warehouse.ts'
import type { RuntimeContext } from '../runtime-context.ts'
import type { Dag } from './dag-file.ts'
import { dagRunEndOf, type EndedTask, type TaskOutcome } from './run-dag.ts'

/** An older run cannot be completed any more: its tasks read yesterday's data. */
const maxRepairMs = 24 * hourMs

interface RepairedRun {
  readonly run: DagRunRow
  /** Every task of the DAG, including those of the previous run. */
  readonly tasks: readonly DagTaskRow[]
}

/** The previous run, completed by `rows`, the tasks of this one; undefined if they do not complete it. */
async function repairedRun(
  engine: Engine,
  { name, tasks }: Dag,
  { rows, endedAt }: { readonly rows: readonly DagTaskRow[]; readonly endedAt: number },
): Promise<RepairedRun | undefined> {
  const [ours] = rows
  const last = ours && (await runToRepair(engine, name))
  if (!ours || !last || endedAt - Date.parse(last.run.started_at) > maxRepairMs) return undefined
  const known = new Map([...last.tasks, ...rows].map(row => [row.task, row]))
  const all = tasks.flatMap(({ id }) => known.get(id) ?? [])
  if (all.length < tasks.length) return undefined
  const { dag_run_id } = ours
  const [started_at, finished_at] = [last.run.started_at, new Date(endedAt).toISOString()]
  return {
    run: { dag_run_id, dag: name, ...dagRunEndOf(all), started_at, finished_at },
    tasks: all.map(row => ({ ...row, dag_run_id })),
  }
}

export interface DagLedger {
  /** Adds an outcome to the next write. */
  note(outcome: TaskOutcome): void
  record(outcome: TaskOutcome): Promise<void>
  /** Records the run, or the previous run that it completes, and outcomes not written before. */
  finish(outcomes: readonly TaskOutcome[]): Promise<FinishedRun>
}

export interface FinishedRun {
  /** The tasks of the run, or of the previous run that it completed; undefined if only part of a DAG has run. */
  readonly endedTasks: readonly EndedTask[] | undefined
  /** Why it could not be recorded. */
  readonly error?: Error
}

interface DagContext extends Pick<RuntimeContext, 'clock' | 'rng'> {
  /** The connection to write to; undefined if the DAG does not belong to a single one. */
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

interface DagRunFacts {
  /** Whether all tasks of the DAG run. */
  readonly isComplete: boolean
  /** Milliseconds since the epoch; now when left out. */
  readonly startedAt?: number
}

/** A failure to record never fails the DAG: its tasks have run. `dag` has all tasks, even if only part of it runs. */
export function openDagLedger(
  context: DagContext,
  dag: Dag,
  { isComplete, startedAt: begun }: DagRunFacts,
): DagLedger {
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
      let endedTasks: readonly EndedTask[] | undefined = isComplete ? outcomes : undefined
      const error = await write(async engine => {
        await flush(engine)
        if (isComplete) {
          const times = { started_at: startedAt, finished_at: instant(clock.now()) }
          const end = { ...dagRunEndOf(outcomes), ...times }
          return recordDagRun(engine, { dag_run_id: dagRunId, dag: dag.name, ...end })
        }
        const repaired = await repairedRun(engine, dag, { rows: outcomes.map(rowOf), endedAt: clock.now() })
        if (!repaired) return
        await recordDagTasks(engine, repaired.tasks)
        await recordDagRun(engine, repaired.run)
        if (repaired.run.state === 'done') endedTasks = repaired.tasks
      })
      return { endedTasks, ...(error && { error }) }
    },
  }
}
