/** Which nights people were told of: a row of ops.dag_task beside those of the tasks. */
import type { Engine } from '../../warehouse/engine.ts'
import { existingTables } from '../existing-tables.ts'

/** No task of a DAG can have this name. */
export const messageTask = '(message)'

interface Told {
  readonly state: 'done' | 'later' | 'failed'
  readonly tasks: readonly string[]
}

/** The last run of this DAG that people were told of, and its tasks that were not done; undefined for none. */
export async function lastTold(engine: Engine, dag: string): Promise<Told | undefined> {
  const tables = await existingTables(engine)
  if (!(tables.has('dag_run') && tables.has('dag_task'))) return undefined
  const [run] = await engine.rows<{ id: string; state: Told['state'] }>(
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
