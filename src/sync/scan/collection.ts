/** Brings one listable collection up to date: a backfill the first time, then walks over what changed. */
import { lastPage } from '../../api/client/paging.ts'
import { utcDay } from '../../lib/dates.ts'
import { sawAllOf } from '../../state/evidence/key-scopes.ts'
import { retireScans, unfinishedScan } from '../../state/scans/scans.ts'
import type { ScanRow, WatermarkRow } from '../../state/scans/tables.ts'
import { forgetWatermark, readWatermark } from '../../state/scans/watermarks.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import type { ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { backfill } from './backfill.ts'
import { byUpdate, openNewScan, scanOf, setWatermark } from './collection-window.ts'
import { readUntilProved } from './loaded-scan.ts'
import { knownTo } from './lookback.ts'
import { readNoted } from './read-again.ts'
import { isLater } from './times.ts'

/**
 * As many rows as the filtered list had when it was last read, give or take those between the midnights of two zones:
 * the answer corrects it. Without it page 1 would be asked first, for its total alone.
 */
async function heldSince({ sync, resource }: ResourceTask, day: string): Promise<number> {
  const [row] = await sync.engine.rows<{ n: number }>(
    `select count(*) as n from star.${quoteName(resource.table.name)}
     where source_updated_at >= cast($1 as timestamptz) and not is_deleted`,
    [`${day}T00:00:00Z`],
  )
  return Number(row?.n ?? 0)
}

const later = (found: string | null, held: string | null): string | null =>
  found !== null && (held === null || isLater(found, held)) ? found : held

async function newChanges(task: ResourceTask, { watermark }: WatermarkRow): Promise<ScanRow> {
  // The zone of the day filter is unknown: two days below the watermark lose nothing in any of them.
  const from = scanOf(task).changedSince && watermark !== null ? utcDay(watermark, -2) : null
  return openNewScan(task, { from, to: null, kind: 'incremental' })
}

/** Down to the watermark, or to the beginning of a list that had no record with a time when it was last read. */
async function walkChanges(task: ResourceTask, watermark: WatermarkRow, window: ScanRow): Promise<void> {
  const { resource } = task
  const { changedSince } = scanOf(task)
  const filter: Record<string, string> =
    changedSince && window.from_day ? { ...changedSince, from: window.from_day } : {}
  await readUntilProved(task, {
    row: window,
    query: { ...resource.query, ...byUpdate, ...filter },
    // The total of a filtered list says nothing of the list of another day.
    beginAt: lastPage(
      filter.from === undefined
        ? Number(watermark.remembered_total ?? 0)
        : await heldSince(task, filter.from),
    ),
    ...(watermark.watermark !== null && { known: await knownTo(task, watermark.watermark) }),
    accepted: (engine, pass) =>
      setWatermark(engine, task, {
        watermark: later(pass.firstWatermark, watermark.watermark),
        ...(changedSince ? {} : { remembered_total: pass.lastTotal }),
      }),
  })
}

async function readChanges(task: ResourceTask, left?: ScanRow): Promise<void> {
  const watermark = await readWatermark(task.sync.engine, task.resource.name)
  if (watermark?.backfilled_at)
    await walkChanges(task, watermark, left ?? (await newChanges(task, watermark)))
}

/** A watermark that was made when the key saw less says nothing of the rest: the list is read from its beginning. */
async function usableWatermark(task: ResourceTask): Promise<WatermarkRow | undefined> {
  const { sync, resource, counters } = task
  const watermark = await readWatermark(sync.engine, resource.name)
  if (!watermark || (await sawAllOf(sync.engine, watermark.run_id, sync.key))) return watermark
  await fenced(task, async engine => {
    await retireScans(engine, resource.name)
    await forgetWatermark(engine, resource.name)
  })
  counters.note = 'the key sees more than it did: read from the beginning'
  return undefined
}

/**
 * A sync that is done has what was changed before it began. A walk that an earlier run left has what was changed before
 * that one, so that another follows it.
 */
export async function syncCollection(task: ResourceTask): Promise<void> {
  const watermark = await usableWatermark(task)
  if (!watermark?.backfilled_at) {
    await backfill(task)
    if (watermark) await readChanges(task)
    return
  }
  const left = await unfinishedScan(task.sync.engine, task.resource.name, 'incremental')
  if (left) await readChanges(task, left)
  await readChanges(task)
  await readNoted(task)
}
