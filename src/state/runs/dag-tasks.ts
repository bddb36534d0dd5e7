/** What became of each task of a DAG, run by run. */
import type { Engine } from '../../warehouse/engine.ts'
import type { DagTaskTable } from '../schema.ts'

export async function recordDagTasks(engine: Engine, rows: readonly DagTaskTable[]): Promise<void> {
  await engine.transaction(async () => {
    for (const row of rows) {
      await engine.ledger
        .deleteFrom('ops.dag_task')
        .where('dag_run_id', '=', row.dag_run_id)
        .where('task', '=', row.task)
        .execute()
      await engine.ledger.insertInto('ops.dag_task').values(row).execute()
    }
  })
}
