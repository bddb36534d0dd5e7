/** Brings one list up to date: a backfill the first time, then scans of what changed. */
import { lastPage } from '../../api/client/paging.ts'
import { utcDay } from '../../lib/dates.ts'
import { sawAllOf } from '../../state/evidence/key-scopes.ts'
import { countLive } from '../../state/evidence/live-count.ts'
import { lastWholeTotal, retireScans, unfinishedScan } from '../../state/scans/scans.ts'
import type { ScanRow, WatermarkRow } from '../../state/scans/tables.ts'
import { forgetWatermark, readWatermark } from '../../state/scans/watermarks.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { isLater } from '../paging/times.ts'
import type { ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { requireNone, shortfallOf } from '../run/incomplete.ts'
import { backfill } from './backfill.ts'
import { doubtFilter, learnFilter } from './changes-filter.ts'
import { byUpdate, openNewScan, pageSizeOf, pagingOf, scanOf, setWatermark } from './collection-window.ts'
import { noteEmptyList } from './empty-list.ts'
import { lookAgain } from './look-again.ts'
import { knownTo } from './lookback.ts'
import { readNoted } from './read-again.ts'
import { digestsIn } from './same-rows.ts'
import { HiddenByFilter, readUntilProved } from './until-proved.ts'

/**
 * Stored rows, of a day and later or all: about as many as the list has, so a scan can begin near its last page. Without this
 * estimate it would ask for page 1 first, only to learn the total.
 */
async function storedSince({ sync, resource }: ResourceTask, day: string | undefined): Promise<number> {
  if (day === undefined) return countLive(sync.engine, resource)
  const since = `t.source_updated_at >= cast(${quoteText(`${day}T00:00:00Z`)} as timestamptz)`
  return countLive(sync.engine, resource, since)
}

/** About as many rows as the list has, from a day on or all. */
async function aboutRows(
  task: ResourceTask,
  { remembered_total }: WatermarkRow,
  day: string | undefined,
): Promise<number> {
  // The remembered total of a list with a filter is that of its first reading.
  if (!scanOf(task).changedSince) return Number(remembered_total ?? 0)
  const last = day === undefined ? await lastWholeTotal(task.sync.engine, task.resource.name) : undefined
  return last ?? storedSince(task, day)
}

const later = (found: string | null, stored: string | null): string | null =>
  found !== null && (stored === null || isLater(found, stored)) ? found : stored

async function newChanges(task: ResourceTask, row: WatermarkRow): Promise<ScanRow> {
  const { watermark, changes_filter, hidden_rows } = row
  // A filtered list may hide other rows than the whole one: those known to be hidden would excuse changes that it lacks.
  const isFiltered = changes_filter === 'honoured' && hidden_rows === null
  // The zone of the day filter is unknown: two days before the watermark are enough in every zone.
  const from = watermark !== null && isFiltered ? utcDay(watermark, -2) : null
  return openNewScan(task, { from, to: null, kind: 'incremental' })
}

/** Down to the watermark, or to page 1 of a list that had no record with a time when it was last read. */
async function scanChanges(task: ResourceTask, watermark: WatermarkRow, window: ScanRow): Promise<void> {
  const { resource } = task
  const { changedSince } = scanOf(task)
  const filter: Record<string, string> =
    changedSince && window.from_day ? { ...changedSince, from: window.from_day } : {}
  await readUntilProved(task, {
    row: window,
    query: { ...resource.query, ...byUpdate, ...filter },
    beginAt: lastPage(await aboutRows(task, watermark, filter.from), pageSizeOf(watermark)),
    ...(watermark.watermark !== null && { known: await knownTo(task, watermark.watermark) }),
    ...pagingOf(watermark),
    sameRows: digestsIn(watermark.same_rows),
    isFiltered: filter.from !== undefined,
    accepted: (engine, end) =>
      setWatermark(engine, task, {
        watermark: later(end.watermark, watermark.watermark),
        same_rows: end.digests,
        ...(changedSince ? {} : { remembered_total: end.total }),
      }),
  })
}

async function readChanges(task: ResourceTask, left?: ScanRow): Promise<void> {
  const watermark = await readWatermark(task.sync.engine, task.resource.name)
  if (!watermark?.backfilled_at) return
  try {
    await scanChanges(task, watermark, left ?? (await newChanges(task, watermark)))
  } catch (error) {
    if (!(error instanceof HiddenByFilter)) throw error
    await doubtFilter(task)
    await scanChanges(task, watermark, await newChanges(task, { ...watermark, changes_filter: 'ignored' }))
  }
}

/** Undefined when the key saw less at the time of the watermark: the list is read from the beginning then. */
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
 * A sync brings every change from before it began. A scan that an earlier run began brings the changes from before that
 * run, so another one follows it.
 */
export async function syncCollection(task: ResourceTask): Promise<void> {
  const watermark = await usableWatermark(task)
  if (!watermark?.backfilled_at) {
    const found = await shortfallOf(backfill(task))
    if (watermark && found.length === 0) found.push(...(await shortfallOf(readChanges(task))))
    // An earlier run, or a window before it was refused, may have brought rows before the list was empty.
    await noteEmptyList(task)
    requireNone(found)
    await learnFilter(task)
    return
  }
  const left = await unfinishedScan(task.sync.engine, task.resource.name, 'incremental')
  // Whatever it lacks, the next scan begins at the same watermark.
  if (left) await shortfallOf(readChanges(task, left))
  const found = await shortfallOf(readChanges(task))
  found.push(...(await shortfallOf(readNoted(task))))
  await noteEmptyList(task)
  await lookAgain(task)
  requireNone(found)
  const { rows_inserted, rows_changed, records_touched } = task.counters
  if (rows_inserted + rows_changed + records_touched > 0) await learnFilter(task, watermark.watermark)
}
