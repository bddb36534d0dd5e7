/** Reads a list for the first time, in windows of created dates: newest first, each proved and resumable on its own. */
import { fewRows } from '../../api/client/envelope.ts'
import { lastPage } from '../../api/client/paging.ts'
import { utcDay } from '../../lib/dates.ts'
import { PageUnreadable } from '../../load/read/page-repair.ts'
import { forgetSeen } from '../../state/scans/scan-ids.ts'
import { backfillScans, readScan, updateScan } from '../../state/scans/scans.ts'
import type { ScanRow, WatermarkRow } from '../../state/scans/tables.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import { readPass } from '../paging/scan.ts'
import { spanOf } from '../paging/times.ts'
import type { ResourceTask } from '../run/context.ts'
import { type Incomplete, requireNone, shortfallOf } from '../run/incomplete.ts'
import { fenced } from '../run/renew-lease.ts'
import {
  byUpdate,
  daysQuery,
  openNewScan,
  pageSizeOf,
  pagingOf,
  refusal,
  scanOf,
  setWatermark,
} from './collection-window.ts'
import { EmptyList, isAllowedEmptyList } from './empty-list.ts'
import type { LoadedScanJob } from './loaded-scan.ts'
import { LoadedScan } from './loaded-scan.ts'
import { forgetUnreadable, readUntilProved } from './until-proved.ts'
import { type BackfillExtent, firstWindow, nextWindow, pagesPerWindow, type WindowDays } from './windows.ts'

interface FirstPage {
  readonly total: number
  readonly records: readonly unknown[]
}

async function first(task: ResourceTask, order: Record<string, string>): Promise<FirstPage> {
  const { sync, resource, counters } = task
  const query = { ...resource.query, page: 1, limit: fewRows, ...order }
  const page = await sync.client.getPage(resource.path, query)
  counters.requests += 1
  return { total: page.meta.total, records: page.records() }
}

/**
 * Takes two requests to learn the size of the backfill, the day where it ends, and the watermark to set at the end:
 * every change made while it runs is newer than that watermark.
 */
async function measure(task: ResourceTask): Promise<void> {
  const { resource } = task
  const updatedAt = resource.updatedAt ?? 'updatedAt'
  // Request several records, in case the newest is hidden or has an impossible time.
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

/** Whether to read a window in this run: it was interrupted, or an earlier run refused it. */
export const isOpen = ({ state, run_id }: Pick<ScanRow, 'state' | 'run_id'>, runId: string): boolean =>
  state === 'scanning' || (state === 'refused' && run_id !== runId)

async function openWindows({ sync, resource }: ResourceTask): Promise<ScanRow[]> {
  const rows = await backfillScans(sync.engine, resource.name)
  return rows.filter(row => isOpen(row, sync.runId))
}

/** Pages loaded for all other windows. */
async function pagesBeside({ sync, resource }: ResourceTask, window?: ScanRow): Promise<number> {
  const rows = await backfillScans(sync.engine, resource.name)
  const others = rows.filter(({ scan_id }) => scan_id !== window?.scan_id)
  return others.reduce((pages, other) => pages + Number(other.pages), 0)
}

function jobOf(task: ResourceTask, window: ScanRow, watermark: WatermarkRow): LoadedScanJob {
  const days = { from: window.from_day, to: window.to_day }
  const isUnbounded = days.from === null && days.to === null
  const rows = Number(watermark.remembered_total ?? 0)
  const pagesInAll = lastPage(rows, pageSizeOf(watermark))
  return {
    row: window,
    query: { ...task.resource.query, ...byUpdate, ...daysQuery(task, days) },
    ...pagingOf(watermark, task.sync.hidden),
    pagesInAll,
    hasRows: rows > 0,
    beginAt: isUnbounded ? pagesInAll : 1,
  }
}

function extentOf({ sync }: ResourceTask, watermark: WatermarkRow): BackfillExtent {
  const today = utcDay(sync.clock.now())
  return { total: Number(watermark.remembered_total ?? 0), earliest: watermark.earliest_day ?? today, today }
}

/** Days of the first window not yet planned; undefined when the windows reach the oldest record. */
async function firstDays(task: ResourceTask, watermark: WatermarkRow): Promise<WindowDays | undefined> {
  const newest = (await backfillScans(task.sync.engine, task.resource.name)).at(-1)
  if (newest) {
    const { from_day: from, to_day: to, pages } = newest
    return nextWindow({ from, to, pages: Number(pages) }, extentOf(task, watermark))
  }
  return watermark.pending_watermark === null
    ? { from: null, to: null }
    : firstWindow(extentOf(task, watermark))
}

/** Windows that their first pass refused, and the contradiction: no further pass reports it. */
type WindowContradictions = Map<ScanRow, string>

/** Reads one pass over each new window, while earlier windows are loading. */
async function readNewWindows(
  task: ResourceTask,
  watermark: WatermarkRow,
  contradictions: WindowContradictions,
): Promise<void> {
  let days = await firstDays(task, watermark)
  let pagesBefore = await pagesBeside(task)
  try {
    while (days) {
      const window: ScanRow = await openNewScan(task, { ...days, kind: 'backfill' })
      const strategy = await LoadedScan.open(task, { ...jobOf(task, window, watermark), pagesBefore })
      const progress = await readPass(strategy, strategy.start)
      await strategy.handOver(progress)
      const { contradiction } = progress.pass
      if (contradiction !== undefined) contradictions.set(window, contradiction)
      pagesBefore += progress.pass.pages
      days = nextWindow({ ...days, pages: progress.pass.pages }, extentOf(task, watermark))
    }
  } finally {
    // Drain first: nothing of this task may still be writing when the caller returns the lease.
    await task.pipeline.drained()
  }
}

const initialProgress = {
  state: 'scanning',
  attempt: 1,
  pass: 1,
  pages: 0,
  first_total: 0,
  last_total: 0,
  expected_ids: 0,
  first_watermark: null,
  next_page: 1,
} as const

/**
 * Continues windows that are not accepted: from the last commit, or from the beginning if an earlier run refused the
 * window. Reads all windows even if some are refused, then throws Incomplete. `cause` is the page that interrupted the
 * reading of new windows.
 */
async function readOpenWindows(
  task: ResourceTask,
  watermark: WatermarkRow,
  cause?: PageUnreadable,
): Promise<void> {
  const found: Incomplete[] = []
  // If the list is empty by now, what was seen of it earlier proves nothing.
  const isEmpty = task.sync.maxDeletions !== undefined && (await isAllowedEmptyList(task))
  for (const window of await openWindows(task)) {
    const restarts = window.state === 'refused' || isEmpty
    const change = { ...initialProgress, run_id: task.sync.runId }
    if (restarts)
      await fenced(task, async engine => {
        await updateScan(engine, window.scan_id, change)
        await forgetSeen(engine, window.scan_id)
      })
    if (cause) await forgetUnreadable(task, window, cause)
    const job = jobOf(task, restarts ? { ...window, ...change } : window, watermark)
    const pagesBefore = await pagesBeside(task, window)
    found.push(...(await shortfallOf(readUntilProved(task, { ...job, pagesBefore }))))
    const empty = found.find(one => one instanceof EmptyList)
    // Each window would fail in the same way.
    if (empty) throw empty
  }
  requireNone(found)
}

/** The page that turned out not to be JSON while loading, and so ended the reading of new windows. */
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

/** The row that `measure` has written, as it is now. */
const measured = async ({ sync, resource }: ResourceTask): Promise<WatermarkRow> =>
  (await readWatermark(sync.engine, resource.name)) as WatermarkRow

/** Reads the newest windows first, and sets the watermark together with the last rows of the last window. */
export async function backfill(task: ResourceTask): Promise<void> {
  const { engine } = task.sync
  if (!(await readWatermark(engine, task.resource.name))) await measure(task)
  const watermark = await measured(task)
  const found = await shortfallOf(readOpenWindows(task, watermark))
  if (found.some(one => one instanceof EmptyList)) requireNone(found)
  if ((await measured(task)).backfilled_at !== null) return
  const contradictions: WindowContradictions = new Map()
  let cause: PageUnreadable | undefined
  do {
    cause = await interruption(task, readNewWindows(task, watermark, contradictions))
    // A window whose pages could not be loaded is read again.
    for (const window of contradictions.keys())
      if ((await readScan(engine, window.scan_id))?.state !== 'refused') contradictions.delete(window)
    found.push(...(await shortfallOf(readOpenWindows(task, watermark, cause))))
  } while (cause)
  for (const [window, contradiction] of contradictions) found.push(await refusal(task, window, contradiction))
  requireNone(found)
}
