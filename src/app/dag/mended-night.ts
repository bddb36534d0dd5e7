/** A run of a part of a DAG is no night by itself: it may complete the last one, whose other tasks were done. */
import { hourMs } from '../../lib/dates.ts'
import { nightToMend } from '../../state/runs/nights.ts'
import type { DagRunRow, DagTaskRow } from '../../state/runs/tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { Dag } from './dag-file.ts'
import { nightOf } from './run-dag.ts'

/** An older night is over: what its tasks read is yesterday's. */
const mendedWithinMs = 24 * hourMs

export interface MendedNight {
  readonly run: DagRunRow
  /** Every task of the DAG, those of the last night among them. */
  readonly tasks: readonly DagTaskRow[]
}

/** `rows` are the tasks of this run; undefined when there is no night that they belong to. */
export async function mendedNight(
  engine: Engine,
  { name, tasks }: Dag,
  { rows, endedAt }: { readonly rows: readonly DagTaskRow[]; readonly endedAt: number },
): Promise<MendedNight | undefined> {
  const [ours] = rows
  const last = ours && (await nightToMend(engine, name))
  if (!ours || !last || endedAt - Date.parse(last.run.started_at) > mendedWithinMs) return undefined
  const known = new Map([...last.tasks, ...rows].map(row => [row.task, row]))
  const all = tasks.flatMap(({ id }) => known.get(id) ?? [])
  if (all.length < tasks.length) return undefined
  const { dag_run_id } = ours
  const [started_at, finished_at] = [last.run.started_at, new Date(endedAt).toISOString()]
  return {
    run: { dag_run_id, dag: name, ...nightOf(all), started_at, finished_at },
    tasks: all.map(row => ({ ...row, dag_run_id })),
  }
}
