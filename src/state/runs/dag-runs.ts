/** Stores DAG runs: how they ended. */
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
