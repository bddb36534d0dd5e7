/** Brings one list up to date: a backfill the first time, then incremental scans. */

import { lastPage, pageLimit } from '../../api/client/paging.ts'
import { utcDay } from '../../lib/dates.ts'
import { countLive } from '../../state/evidence/absence.ts'
import { sawAllOf } from '../../state/evidence/key-scopes.ts'
import { nextDayLook, recordLook } from '../../state/evidence/quarantine-looks.ts'
import {
  lastListTotal,
  retireScans,
  unfinishedScan,
  type WatermarkHistory,
  watermarkHistory,
} from '../../state/scans/scans.ts'
import type { ScanRow, WatermarkRow } from '../../state/scans/tables.ts'
import { forgetWatermark, readWatermark } from '../../state/scans/watermarks.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import type { KnownTimes } from '../paging/page-facts.ts'
import { now, type ResourceTask, serviceTime } from '../run/context.ts'
import { requireNone, shortfallOf } from '../run/incomplete.ts'
import { fenced } from '../run/renew-lease.ts'
import { backfill } from './backfill.ts'
import { doubtFilter, learnFilter } from './changes-filter.ts'
import { byUpdate, daysQuery, openNewScan, pageSizeOf, pagingOf, scanOf } from './collection-window.ts'
import { noteEmptyList } from './empty-list.ts'
import { readNoted } from './reread-days.ts'
import { digestsIn } from './same-rows.ts'
import { HiddenByFilter, readUntilProved } from './until-proved.ts'

interface ScanStart extends WatermarkHistory {
  readonly watermark: string
  readonly lookbackMs: number
}

/**
 * Records can be committed later than their own times say, so a scan reads back to a lookback before the watermark.
 * When a scan first found the watermark, the service's clock had reached its time. Once a later scan begins more than
 * the lookback after that, every record up to the watermark was committed and has been read. All times come from the
 * service's clock: machines that share a warehouse may differ by hours. Twice the lookback must pass, because responses
 * give the time only to the second.
 */
export function knownBelow({ watermark, seen, begun, lookbackMs }: ScanStart): KnownTimes {
  const at = Date.parse(watermark)
  // False if one of them is unknown.
  const isSettled = Date.parse(begun ?? '') - Date.parse(seen ?? '') > 2 * lookbackMs
  // Everything up to the end of the watermark's millisecond is known then.
  return { before: isSettled ? at + 1 : at - lookbackMs, reached: at }
}

export async function knownTo({ sync, resource }: ResourceTask, watermark: string): Promise<KnownTimes> {
  const now = serviceTime(sync)
  const history = await watermarkHistory(sync.engine, resource.name, { watermark, now })
  return knownBelow({ watermark, ...history, lookbackMs: sync.lookbackMs })
}

/** It is unknown which time zone the day filter uses, and whether it is inclusive. */
const slackDays = 1

/** Sends one request a day: a page of the records created around the day of a quarantined record. */
export async function lookAgain(task: ResourceTask): Promise<void> {
  const { sync, resource, counters, pipeline } = task
  const due = { resource: resource.name, now: sync.clock.now(), runId: sync.runId }
  const look = await nextDayLook(sync.engine, { ...due, pageSize: pageLimit })
  if (!look) return
  const { place, page } = look
  const isDated = place !== '' && scanOf(task).createdBetween !== undefined
  const days = isDated
    ? { from: utcDay(place, -slackDays), to: utcDay(place, slackDays) }
    : { from: null, to: null }
  const query = { ...resource.query, ...byUpdate, ...daysQuery(task, days), page, limit: pageLimit }
  const { bytes, fetchedAt, meta } = await sync.client.getPage(resource.path, query)
  counters.requests += 1
  const scanId = `${sync.runId}-quarantine-${resource.name}`
  await sync.landing.begin(scanId, { resource: resource.name, scope: {} })
  const arrived = { sequence: 1, page, fetchedAt, runId: sync.runId, bytes }
  const landed = await sync.landing.land(scanId, arrived)
  // A record that still cannot be loaded stays in quarantine.
  pipeline.readAgain.add([landed])
  const row = { resource: resource.name, looked_at: now(sync), place, page, total: meta.total }
  await pipeline.load({ pages: [landed], rows: 'data', writeScan: engine => recordLook(engine, row) })
  await pipeline.drained()
}

/**
 * Number of stored rows, from a day on or in all, as an estimate of the list's length. With it a scan can begin near
 * the last page, instead of requesting page 1 just to learn the total.
 */
async function storedSince({ sync, resource }: ResourceTask, day: string | undefined): Promise<number> {
  if (day === undefined) return countLive(sync.engine, resource)
  const since = `t.source_updated_at >= cast(${quoteText(`${day}T00:00:00Z`)} as timestamptz)`
  return countLive(sync.engine, resource, since)
}

/** Estimates the rows of the list, from a day on or in all. */
async function aboutRows(
  task: ResourceTask,
  { remembered_total }: WatermarkRow,
  day: string | undefined,
): Promise<number> {
  // A filtered list remembers the total of its first reading.
  if (!scanOf(task).changedSince) return Number(remembered_total ?? 0)
  const last = day === undefined ? await lastListTotal(task.sync.engine, task.resource.name) : undefined
  return last ?? storedSince(task, day)
}

async function newChanges(task: ResourceTask, row: WatermarkRow): Promise<ScanRow> {
  const { watermark, changes_filter, hidden_rows } = row
  // A filtered list may hide other rows than the full list: known hidden rows would then excuse missing changes.
  const isFiltered = changes_filter === 'honoured' && hidden_rows === null
  // The day filter's time zone is unknown: two days before the watermark are enough in every zone.
  const from = watermark !== null && isFiltered ? utcDay(watermark, -2) : null
  return openNewScan(task, { from, to: null, kind: 'incremental' })
}

/** Reads down to the watermark, or to page 1 if no record had a time when the list was last read. */
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
    ...pagingOf(watermark, task.sync.hidden),
    sameRows: digestsIn(watermark.same_rows),
    isFiltered: filter.from !== undefined,
  })
}

/** Call after the backfill, which has written the watermark. */
async function readChanges(task: ResourceTask, left?: ScanRow): Promise<void> {
  const watermark = (await readWatermark(task.sync.engine, task.resource.name)) as WatermarkRow
  try {
    await scanChanges(task, watermark, left ?? (await newChanges(task, watermark)))
  } catch (error) {
    if (!(error instanceof HiddenByFilter)) throw error
    await doubtFilter(task)
    await scanChanges(task, watermark, await openNewScan(task, { from: null, to: null, kind: 'incremental' }))
  }
}

/** Undefined when the key could see less at the time of the watermark: then the list is read from the beginning. */
async function usableWatermark(task: ResourceTask): Promise<WatermarkRow | undefined> {
  const { sync, resource, counters } = task
  const watermark = await readWatermark(sync.engine, resource.name)
  if (!watermark || (await sawAllOf(sync.engine, watermark.run_id, sync.key))) return watermark
  await fenced(task, async engine => {
    await retireScans(engine, resource.name)
    await forgetWatermark(engine, resource.name)
  })
  counters.note = 'the key can see more than before: reading from the beginning'
  return undefined
}

/**
 * Reads every change made before this sync began. A scan left by an earlier run brings only the changes from before
 * that run, so another one follows it.
 */
export async function syncCollection(task: ResourceTask): Promise<void> {
  const watermark = await usableWatermark(task)
  if (!watermark?.backfilled_at) {
    const found = await shortfallOf(backfill(task))
    if (watermark && found.length === 0) found.push(...(await shortfallOf(readChanges(task))))
    // An earlier run, or an earlier window, may have loaded rows before the list became empty.
    await noteEmptyList(task)
    requireNone(found)
    await learnFilter(task)
    return
  }
  const left = await unfinishedScan(task.sync.engine, task.resource.name, 'incremental')
  // Ignore its shortfall: the next scan starts from the same watermark.
  if (left) await shortfallOf(readChanges(task, left))
  const found = await shortfallOf(readChanges(task))
  found.push(...(await shortfallOf(readNoted(task))))
  await noteEmptyList(task)
  await lookAgain(task)
  requireNone(found)
  const { rows_inserted, rows_changed, records_touched } = task.counters
  if (rows_inserted + rows_changed + records_touched > 0) await learnFilter(task, watermark.watermark)
}
