/** The first reading of a list: created-date windows, newest first, each proved and resumable by itself. */
import { fewRows } from '../../api/client/envelope.ts'
import { lastPage } from '../../api/client/paging.ts'
import { utcDay } from '../../lib/dates.ts'
import { PageUnreadable } from '../../load/read/page-repair.ts'
import { forgetSeen } from '../../state/scans/scan-ids.ts'
import { backfillScans, updateScan } from '../../state/scans/scans.ts'
import type { ScanRow, WatermarkRow } from '../../state/scans/tables.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { readPass } from '../paging/scan.ts'
import { spanOf } from '../paging/times.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { type Incomplete, requireNone, shortfallOf } from '../run/incomplete.ts'
import {
  byUpdate,
  daysQuery,
  openNewScan,
  pageSizeOf,
  pagingOf,
  scanOf,
  setWatermark,
} from './collection-window.ts'
import { EmptyList, isBelievedEmpty } from './empty-list.ts'
import { LoadedScan } from './loaded-scan.ts'
import type { LoadedScanJob, ScanEnd } from './loaded-scan-job.ts'
import { forgetUnreadable, readUntilProved } from './until-proved.ts'
import { type BackfillExtent, type Days, firstWindow, nextWindow, pagesPerWindow } from './windows.ts'

interface First {
  readonly total: number
  readonly records: readonly unknown[]
}

async function first(task: ResourceTask, order: Record<string, string>): Promise<First> {
  const { sync, resource, counters } = task
  const query = { ...resource.query, page: 1, limit: fewRows, ...order }
  const page = await sync.client.getPage(resource.path, query)
  counters.requests += 1
  return { total: page.meta.total, records: page.records() }
}

/**
 * Two requests give the size of the backfill, the day where it ends, and the watermark that holds when it is complete: every
 * change made while it runs is newer than that watermark.
 */
async function measure(task: ResourceTask): Promise<void> {
  const { resource } = task
  const updatedAt = resource.updatedAt ?? 'updatedAt'
  // More than one record, in case the newest is hidden or has an impossible time.
  const { total, records } = await first(task, { sortBy: 'updatedAt', sortOrder: 'desc' })
  if (lastPage(total) <= pagesPerWindow || !scanOf(task).createdBetween) {
    await fenced(task, engine => setWatermark(engine, task, { remembered_total: total, earliest_day: null }))
    return
  }
  const oldest = await first(task, { sortBy: 'createdAt', sortOrder: 'asc' })
  const created = (oldest.records[0] as { createdAt?: string } | undefined)?.createdAt
  const found = {
    pending_watermark: spanOf(records, updatedAt, task.sync.clock.now()).newest ?? null,
    remembered_total: total,
    earliest_day: created === undefined ? null : utcDay(created),
  }
  await fenced(task, engine => setWatermark(engine, task, found))
}

type WindowRow = Pick<ScanRow, 'scan_id' | 'state' | 'run_id' | 'from_day'>

/** Whether a window is read in this run: it was cut off, or an earlier run refused it. */
export const isOpen = ({ state, run_id }: Pick<WindowRow, 'state' | 'run_id'>, runId: string): boolean =>
  state === 'scanning' || (state === 'refused' && run_id !== runId)

async function openWindows({ sync, resource }: ResourceTask): Promise<ScanRow[]> {
  const rows = await backfillScans(sync.engine, resource.name)
  return rows.filter(row => isOpen(row, sync.runId))
}

interface AcceptedWindow {
  readonly window: Pick<WindowRow, 'scan_id' | 'from_day'>
  readonly windows: readonly WindowRow[]
  /** The watermark from before the first window. */
  readonly pending: string | null
  readonly end: ScanEnd
}

/**
 * The watermark of a complete backfill; undefined unless this window was the last one open, whichever it is, and the oldest record
 * is covered. Changes made while the windows were read are newer than `pending`.
 */
export function completedBackfill(accepted: AcceptedWindow): Partial<WatermarkRow> | undefined {
  const { window, windows, pending, end } = accepted
  const others = windows.filter(({ scan_id }) => scan_id !== window.scan_id)
  if (others.some(other => other.state !== 'accepted')) return undefined
  if (![window, ...others].some(({ from_day }) => from_day === null)) return undefined
  if (pending !== null) return { watermark: pending, pending_watermark: null }
  return { watermark: end.watermark, pending_watermark: null, remembered_total: end.total }
}

async function finishBackfill(
  engine: Engine,
  task: ResourceTask,
  { window, end }: { readonly window: ScanRow; readonly end: ScanEnd },
): Promise<void> {
  const { name } = task.resource
  const pending = (await readWatermark(engine, name))?.pending_watermark ?? null
  const windows = await backfillScans(engine, name)
  const change = completedBackfill({ window, windows, pending, end })
  if (change) await setWatermark(engine, task, { ...change, backfilled_at: now(task.sync) })
}

/** Pages of all windows but this one, as far as they are loaded. */
async function pagesBeside({ sync, resource }: ResourceTask, window?: ScanRow): Promise<number> {
  const rows = await backfillScans(sync.engine, resource.name)
  const others = rows.filter(({ scan_id }) => scan_id !== window?.scan_id)
  return others.reduce((pages, other) => pages + Number(other.pages), 0)
}

function jobOf(task: ResourceTask, window: ScanRow, watermark: WatermarkRow): LoadedScanJob {
  const days = { from: window.from_day, to: window.to_day }
  const isWhole = days.from === null && days.to === null
  const rows = Number(watermark.remembered_total ?? 0)
  const pagesInAll = lastPage(rows, pageSizeOf(watermark))
  return {
    row: window,
    query: { ...task.resource.query, ...byUpdate, ...daysQuery(task, days) },
    ...pagingOf(watermark),
    pagesInAll,
    hasRows: rows > 0,
    beginAt: isWhole ? pagesInAll : 1,
    accepted: (engine, end) => finishBackfill(engine, task, { window, end }),
  }
}

function extentOf({ sync }: ResourceTask, watermark: WatermarkRow): BackfillExtent {
  const today = utcDay(sync.clock.now())
  return { total: Number(watermark.remembered_total ?? 0), earliest: watermark.earliest_day ?? today, today }
}

/** Days of the first window that is not planned yet; undefined when the windows reach the oldest record. */
async function firstDays(task: ResourceTask, watermark: WatermarkRow): Promise<Days | undefined> {
  const newest = (await backfillScans(task.sync.engine, task.resource.name)).at(-1)
  if (newest) {
    const { from_day: from, to_day: to, pages } = newest
    return nextWindow({ from, to, pages: Number(pages) }, extentOf(task, watermark))
  }
  return watermark.pending_watermark === null
    ? { from: null, to: null }
    : firstWindow(extentOf(task, watermark))
}

/** One pass over each new window; a window is read while those before it load. */
async function readNewWindows(task: ResourceTask, watermark: WatermarkRow): Promise<void> {
  let days = await firstDays(task, watermark)
  let pagesBefore = await pagesBeside(task)
  try {
    while (days) {
      const window: ScanRow = await openNewScan(task, { ...days, kind: 'backfill' })
      const strategy = await LoadedScan.open(task, { ...jobOf(task, window, watermark), pagesBefore })
      const progress = await readPass(strategy, strategy.start)
      await strategy.handOver(progress)
      pagesBefore += progress.pass.pages
      days = nextWindow({ ...days, pages: progress.pass.pages }, extentOf(task, watermark))
    }
  } finally {
    // Nothing of this task may still be writing when the caller gives the lease back.
    await task.pipeline.drained()
  }
}

const afresh = {
  state: 'scanning',
  attempt: 1,
  pass: 1,
  pages: 0,
  first_total: 0,
  greatest_total: 0,
  last_total: 0,
  expected_ids: 0,
  first_watermark: null,
  next_page: 1,
} as const

/**
 * Further passes over windows that are not accepted: from the last commit, or from the beginning of a window that an earlier
 * run refused. A window that is refused does not keep the others from being read: Incomplete is thrown after the last one. `cause` is the page that interrupted the reading of new windows.
 */
async function readOpenWindows(
  task: ResourceTask,
  watermark: WatermarkRow,
  cause?: PageUnreadable,
): Promise<void> {
  const found: Incomplete[] = []
  // What was seen of a list that is empty by now proves nothing of it.
  const isEmpty = task.sync.most !== undefined && (await isBelievedEmpty(task))
  for (const window of await openWindows(task)) {
    if (isShownEmpty(found)) break
    const isAnew = window.state === 'refused' || isEmpty
    const change = { ...afresh, run_id: task.sync.runId }
    if (isAnew)
      await fenced(task, async engine => {
        await updateScan(engine, window.scan_id, change)
        await forgetSeen(engine, window.scan_id)
      })
    if (cause) await forgetUnreadable(task, window, cause)
    const job = jobOf(task, isAnew ? { ...window, ...change } : window, watermark)
    const pagesBefore = await pagesBeside(task, window)
    found.push(...(await shortfallOf(readUntilProved(task, { ...job, pagesBefore }))))
  }
  if (isShownEmpty(found)) throw found.find(one => one instanceof EmptyList)
  requireNone(found)
}

/** The page that turned out to be no JSON when it was loaded, and ended the reading of new windows; undefined when none did. */
async function interruption(task: ResourceTask, reading: Promise<void>): Promise<PageUnreadable | undefined> {
  try {
    await reading
    return undefined
  } catch (error) {
    if (!(error instanceof PageUnreadable)) throw error
    task.pipeline.readAgain.add(error.pages)
    return error
  }
}

/** Each part of the list would say the same. */
const isShownEmpty = (found: readonly Incomplete[]): boolean => found.some(one => one instanceof EmptyList)

/** Newest windows first; the watermark is set together with the last rows of the last window. */
export async function backfill(task: ResourceTask): Promise<void> {
  const { engine } = task.sync
  const { name } = task.resource
  if (!(await readWatermark(engine, name))) await measure(task)
  const watermark = await readWatermark(engine, name)
  if (!watermark) return
  const found = await shortfallOf(readOpenWindows(task, watermark))
  if (isShownEmpty(found)) requireNone(found)
  if ((await readWatermark(engine, name))?.backfilled_at !== null) return
  let cause: PageUnreadable | undefined
  do {
    cause = await interruption(task, readNewWindows(task, watermark))
    found.push(...(await shortfallOf(readOpenWindows(task, watermark, cause))))
  } while (cause)
  requireNone(found)
}
