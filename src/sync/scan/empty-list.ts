/** Notes when a list that had rows is shown as empty: its records stay stored until a sweep proves that they are deleted. */
import { formatNumber } from '../../lib/counted.ts'
import { countLive } from '../../state/evidence/live-count.ts'
import { lastTotal } from '../../state/scans/scans.ts'
import type { WatermarkRow } from '../../state/scans/tables.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { Incomplete } from '../run/incomplete.ts'
import { scanOf, setWatermark } from './collection-window.ts'

/** What the last scan was shown no rows of. Where the service was asked to filter by changes, maybe nothing changed. */
async function emptyAt(
  task: ResourceTask,
  { remembered_total }: WatermarkRow,
): Promise<'the list' | 'changes' | undefined> {
  const changes = scanOf(task).changedSince && (await lastTotal(task.sync.engine, task.resource.name))
  if (changes !== undefined) return changes === 0 ? 'changes' : undefined
  return remembered_total !== null && Number(remembered_total) === 0 ? 'the list' : undefined
}

async function isEmptyNow({ sync, resource, counters }: ResourceTask): Promise<boolean> {
  const query = { ...resource.query, fields: 'id', page: 1, limit: 1 }
  const { meta } = await sync.client.getPage(resource.path, query)
  counters.requests += 1
  return meta.total === 0
}

/** Records that the list had. */
async function hadRows(task: ResourceTask): Promise<number> {
  const watermark = await readWatermark(task.sync.engine, task.resource.name)
  return Math.max(Number(watermark?.remembered_total ?? 0), await countLive(task.sync.engine, task.resource))
}

/** The whole list is shown as empty, and nobody has said that it is. */
export class EmptyList extends Incomplete {}

/** Whether an operator has said, by --most, that so many records may be gone. */
export const isBelieved = (rows: number, most: number | undefined): boolean => rows <= (most ?? -1)

/** Whether the list is empty and somebody has said that it lost so many records. */
export async function isBelievedEmpty(task: ResourceTask): Promise<boolean> {
  return isBelieved(await hadRows(task), task.sync.most) && (await isEmptyNow(task))
}

/**
 * Throws EmptyList where the service shows the whole list as empty: then it means nothing that some days of a list that had
 * rows have none.
 */
export async function requireRows(task: ResourceTask): Promise<void> {
  if (!(await isEmptyNow(task))) return
  const { name } = task.resource
  const expected = await hadRows(task)
  if (isBelieved(expected, task.sync.most)) return
  const reason = 'the service shows the whole list as empty'
  const next = `run muster sync again when it shows its records; if they are deleted, muster sync ${name} --most ${expected}`
  throw new EmptyList({ resource: name, seen: 0, expected, reason, next })
}

/** After the last scan of the list. */
export async function noteEmptyList(task: ResourceTask): Promise<void> {
  const { sync, resource, counters } = task
  const watermark = await readWatermark(sync.engine, resource.name)
  if (!watermark?.backfilled_at) return
  const empty = await emptyAt(task, watermark)
  if (!empty && watermark.empty_since === null) return
  const stored = await countLive(task.sync.engine, task.resource)
  const isEmpty = stored > 0 && (empty === 'the list' || (empty === 'changes' && (await isEmptyNow(task))))
  const since = isEmpty ? (watermark.empty_since ?? now(sync)) : null
  if (since !== (watermark.empty_since ?? null))
    await fenced(task, engine => setWatermark(engine, task, { empty_since: since }))
  if (isEmpty)
    counters.note = `the service shows an empty list; the ${formatNumber(stored)} stored stay: if they are deleted, muster sweep ${resource.name} --most ${stored}`
}
