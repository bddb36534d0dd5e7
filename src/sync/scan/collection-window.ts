/** Windows of a collection: their ledger row, and the query that stands for their days. */
import type { Scan } from '../../contract/fields/resource.ts'
import { moveWatermark } from '../../state/scans/watermarks.ts'
import { freshWindow, openWindow } from '../../state/scans/windows.ts'
import type { WatermarkTable, WindowTable } from '../../state/schema.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import type { Days } from './windows.ts'

export const byUpdate = { sortBy: 'updatedAt', sortOrder: 'asc' }

export const walkOf = ({ resource }: ResourceTask): Scan => resource.read as Scan

export function daysQuery(task: ResourceTask, { from, to }: Days): Record<string, string> {
  const { createdBetween } = walkOf(task)
  if (from === null && to === null) return {}
  return { ...createdBetween, ...(from !== null && { from }), ...(to !== null && { to }) }
}

interface Opening extends Days {
  readonly kind: WindowTable['kind']
  /** Set for windows that somebody asked for: they are no part of the backfill. */
  readonly scope?: string
}

/** Creates the window's ledger row, in one turn at the warehouse: pages wait for it. */
export function newWindow(task: ResourceTask, opening: Opening): Promise<WindowTable> {
  const { sync, resource } = task
  return fenced(task, async () => {
    const [count] = await sync.engine.rows<{ n: number }>(
      'select count(*) as n from ops.window where run_id = $1',
      [sync.runId],
    )
    const row = freshWindow({
      window_id: `${sync.runId}-${String(Number(count?.n ?? 0) + 1).padStart(4, '0')}-${resource.name}`,
      resource: resource.name,
      kind: opening.kind,
      from_day: opening.from,
      to_day: opening.to,
      scope: opening.scope ?? null,
      run_id: sync.runId,
      started_at: now(sync),
    })
    await openWindow(sync.engine, row)
    return row
  })
}

export async function moveMark(task: ResourceTask, change: Partial<WatermarkTable>): Promise<void> {
  const { sync, resource } = task
  await moveWatermark(sync.engine, resource.name, { ...change, run_id: sync.runId, moved_at: now(sync) })
}
