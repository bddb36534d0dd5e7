/** Stores DAG runs: how they ended, and which of them users were notified of. */
import type { Engine } from '../../warehouse/engine.ts'
import { existingTables } from '../existing-tables.ts'
import { ledger } from '../ledger.ts'
import type { DagRunRow, DagTaskRow } from './tables.ts'

export interface FinishedDagRun extends Pick<DagRunRow, 'dag' | 'state' | 'reason'> {
  /** ISO 8601. */
  readonly finishedAt: string
}

export async function recordDagRun(engine: Engine, row: DagRunRow): Promise<void> {
  await ledger(engine).deleteFrom('ops.dag_run').where('dag_run_id', '=', row.dag_run_id).execute()
  await ledger(engine).insertInto('ops.dag_run').values(row).execute()
}

/** The last run of a DAG with its tasks; undefined if it was done. */
export async function runToRepair(
  engine: Engine,
  dag: string,
): Promise<{ readonly run: DagRunRow; readonly tasks: readonly DagTaskRow[] } | undefined> {
  const run = await ledger(engine)
    .selectFrom('ops.dag_run')
    .selectAll()
    .where('dag', '=', dag)
    .orderBy('finished_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!run || run.state === 'done') return undefined
  const tasks = await ledger(engine)
    .selectFrom('ops.dag_task')
    .selectAll()
    .where('dag_run_id', '=', run.dag_run_id)
    .execute()
  return { run, tasks }
}

/** The last run of each DAG, and the last one that was done; empty if no DAG ran. */
export async function lastDagRuns(
  engine: Pick<Engine, 'rows' | 'schema' | 'cacheKey'>,
): Promise<readonly FinishedDagRun[]> {
  if (!(await existingTables(engine)).has('dag_run')) return []
  return engine.rows<FinishedDagRun>(
    `select dag, state, reason, finished_at as "finishedAt" from (
       select dag, state, reason, finished_at,
         row_number() over (partition by dag order by finished_at desc) as place,
         row_number() over (partition by dag, state order by finished_at desc) as of_state
       from ops.dag_run) as ranked
     where place = 1 or (state = 'done' and of_state = 1) order by finished_at desc`,
  )
}

/** A row of ops.dag_task with this name records the notification. No task can have this name. */
export const messageTask = '(message)'

interface NotifiedState {
  readonly state: 'done' | 'later' | 'failed'
  readonly tasks: readonly string[]
}

/** The last run of this DAG with a notification, and its tasks that were not done; undefined if there is none. */
export async function lastNotified(engine: Engine, dag: string): Promise<NotifiedState | undefined> {
  const tables = await existingTables(engine)
  if (!(tables.has('dag_run') && tables.has('dag_task'))) return undefined
  const [run] = await engine.rows<{ id: string; state: NotifiedState['state'] }>(
    `select n.dag_run_id as id, n.state from ops.dag_run as n join ops.dag_task as t on t.dag_run_id = n.dag_run_id
     where n.dag = $1 and t.task = '${messageTask}' and t.state = 'done' order by n.finished_at desc limit 1`,
    [dag],
  )
  if (!run) return undefined
  const tasks = await engine.rows<{ task: string }>(
    `select task from ops.dag_task where dag_run_id = $1 and state in ('failed', 'later')`,
    [run.id],
  )
  return { state: run.state, tasks: tasks.map(({ task }) => task) }
}
