/** What became of each task of a DAG, run by run. */

import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import type { DagTaskRow } from './tables.ts'

export async function recordDagTasks(engine: Engine, rows: readonly DagTaskRow[]): Promise<void> {
  await engine.transaction(async engine => {
    for (const row of rows) {
      await ledger(engine)
        .deleteFrom('ops.dag_task')
        .where('dag_run_id', '=', row.dag_run_id)
        .where('task', '=', row.task)
        .execute()
      await ledger(engine).insertInto('ops.dag_task').values(row).execute()
    }
  })
}
