/** Notes when a list that had rows becomes empty: its records stay stored until a sweep proves that they are deleted. */
import { counted } from '../../lib/counted.ts'
import { countLive } from '../../state/evidence/absence.ts'
import { lastTotal } from '../../state/scans/scans.ts'
import type { WatermarkRow } from '../../state/scans/tables.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { Incomplete } from '../run/incomplete.ts'
import { fenced } from '../run/renew-lease.ts'
import { scanOf, setWatermark } from './collection-window.ts'

/** What was empty in the last scan. If the service filtered by changes, there may just be no changes. */
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

/** Number of records that the list had. */
async function hadRows(task: ResourceTask): Promise<number> {
  const watermark = await readWatermark(task.sync.engine, task.resource.name)
  return Math.max(Number(watermark?.remembered_total ?? 0), await countLive(task.sync.engine, task.resource))
}

/** The service returns an empty list, and no operator has confirmed it. */
export class EmptyList extends Incomplete {}

/** Whether the operator has confirmed, with --max-deletions, that this many records may be gone. */
export const isAllowedLoss = (rows: number, maxDeletions: number | undefined): boolean =>
  rows <= (maxDeletions ?? -1)

/** Whether the list is empty, and the operator has confirmed the loss of its records. */
export async function isAllowedEmptyList(task: ResourceTask): Promise<boolean> {
  return isAllowedLoss(await hadRows(task), task.sync.maxDeletions) && (await isEmptyNow(task))
}

/**
 * Throws EmptyList if the service returns the full list as empty. In that case, empty days say nothing about deletions.
 */
export async function requireRows(task: ResourceTask): Promise<void> {
  if (!(await isEmptyNow(task))) return
  const { name } = task.resource
  const expected = await hadRows(task)
  if (isAllowedLoss(expected, task.sync.maxDeletions)) return
  const reason = 'the service returns an empty list'
  const next = `run muster sync again when its records are back; if they are deleted, muster sync ${name} --max-deletions ${expected}`
  throw new EmptyList({ resource: name, seen: 0, expected, reason, next })
}

/** Call after the last scan of the list. */
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
    counters.note = `the service returns an empty list; keeping ${counted(stored, 'stored record')}: if they are deleted, muster sweep ${resource.name} --max-deletions ${stored}`
}
