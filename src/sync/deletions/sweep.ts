/** Looks for deleted records: reads a list whole for its ids, confirms candidates, and tombstones those with two pieces of evidence. */
import { fewRows } from '../../api/client/envelope.ts'
import { lastPage } from '../../api/client/paging.ts'
import { dayMs, utcDay } from '../../lib/dates.ts'
import { countLive } from '../../state/evidence/live-count.ts'
import { forgetSweptIds } from '../../state/scans/scan-ids.ts'
import { freshScan, openScan } from '../../state/scans/scans.ts'
import { openSweep, sweepScans, unfinishedSweep, updateSweep } from '../../state/scans/sweeps.ts'
import type { ScanRow, SweepRow } from '../../state/scans/tables.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { Incomplete } from '../run/incomplete.ts'
import { currentScope } from '../run/key.ts'
import { byUpdate, daysQuery, pagingOf, scanOf } from '../scan/collection-window.ts'
import { type BackfillExtent, type Days, firstWindow, nextWindow, pagesPerWindow } from '../scan/windows.ts'
import { judgeSweep } from './sweep-result.ts'
import { sweepWindow } from './sweep-scan.ts'
import { sweptFields } from './swept-page.ts'
import { tombstoneProved } from './tombstones.ts'

export interface SweepOptions {
  /** Counts only: one request a list. */
  readonly counts?: boolean
  /** How many may be deleted at once, when an operator knows that they are. */
  readonly most?: number
}

/** Day of the oldest record of a list of many pages, for one request; null for a short list, which is a single window. */
async function earliestDay(task: ResourceTask): Promise<string | null> {
  const { sync, resource, counters } = task
  if (lastPage(await countLive(sync.engine, resource)) <= pagesPerWindow || !scanOf(task).createdBetween)
    return null
  const query = { fields: sweptFields, sortBy: 'createdAt', sortOrder: 'asc', page: 1, limit: fewRows }
  const page = await sync.client.getPage(resource.path, query, { purpose: 'reconcile' })
  counters.requests += 1
  const created = (page.records()[0] as { createdAt?: string } | undefined)?.createdAt
  return created === undefined ? null : utcDay(created)
}

async function newSweep(task: ResourceTask): Promise<SweepRow> {
  const { sync, resource } = task
  const startedAt = now(sync)
  const row: SweepRow = {
    sweep_id: `${sync.runId}-${resource.name}`,
    resource: resource.name,
    scope_id: currentScope(task),
    state: 'sweeping',
    started_at: startedAt,
    ended_at: null,
    earliest_day: await earliestDay(task),
    run_id: sync.runId,
    total: 0,
    seen: 0,
    judged: 0,
    missing: 0,
    note: null,
  }
  await fenced(task, engine => openSweep(engine, row))
  return row
}

async function giveUp(task: ResourceTask, { sweep_id }: SweepRow, note: string): Promise<void> {
  await fenced(task, async engine => {
    await updateSweep(engine, sweep_id, { state: 'refused', ended_at: now(task.sync), note })
    await forgetSweptIds(engine, sweep_id)
  })
  task.counters.note = note
}

/** The window that never settled is the last one that was read. */
async function unsettled(task: ResourceTask, sweep: SweepRow): Promise<Incomplete> {
  const window = (await sweepScans(task.sync.engine, sweep.sweep_id)).at(-1)
  await giveUp(task, sweep, 'the list did not settle')
  return new Incomplete({
    resource: task.resource.name,
    seen: Number(window?.distinct_ids ?? 0),
    expected: Number(window?.expected_ids ?? 0),
    reason: 'the list did not settle while it was swept',
    next: `nothing was tombstoned; run muster sweep ${task.resource.name} again when the service is quieter`,
  })
}

/**
 * Since a window of it was begun or read: an older sweep would end as if nothing had been deleted meanwhile. A window has 50 pages,
 * which the share of a small key pays in some days, or more of a list with many rows a day.
 */
const longestPauseMs = 7 * dayMs

async function whyGivenUp(task: ResourceTask, sweep: SweepRow): Promise<string | undefined> {
  if (sweep.scope_id !== currentScope(task)) return 'begun with another scope'
  const last = (await sweepScans(task.sync.engine, sweep.sweep_id)).at(-1)
  const at = Date.parse(last?.accepted_at ?? last?.started_at ?? sweep.started_at)
  return task.sync.clock.now() - at > longestPauseMs ? 'not gone on with for a week' : undefined
}

/** The sweep that an earlier run left unfinished, if it can be gone on with; a new one otherwise. */
async function sweepToRead(task: ResourceTask): Promise<SweepRow> {
  const left = await unfinishedSweep(task.sync.engine, task.resource.name)
  if (!left) return newSweep(task)
  const why = await whyGivenUp(task, left)
  if (why === undefined) return left
  await giveUp(task, left, why)
  task.counters.note = null
  return newSweep(task)
}

function extentOf(sweep: SweepRow, total: number): BackfillExtent {
  const today = utcDay(sweep.started_at)
  return { total, earliest: sweep.earliest_day ?? today, today }
}

/** Days of the window after these; undefined when they are the last. */
function daysAfter(extent: BackfillExtent, sweep: SweepRow, last: ScanRow | undefined): Days | undefined {
  if (!last) return sweep.earliest_day === null ? { from: null, to: null } : firstWindow(extent)
  return nextWindow({ from: last.from_day, to: last.to_day, pages: Number(last.pages) }, extent)
}

async function openNext(
  task: ResourceTask,
  sweep: SweepRow,
  windows: readonly ScanRow[],
): Promise<ScanRow | undefined> {
  const { engine } = task.sync
  const rows = await countLive(engine, task.resource)
  const days = daysAfter(extentOf(sweep, rows), sweep, windows.at(-1))
  if (!days) return undefined
  const row = freshScan({
    scan_id: `${sweep.sweep_id}-${String(windows.length + 1).padStart(4, '0')}`,
    resource: task.resource.name,
    kind: 'sweep',
    sweep_id: sweep.sweep_id,
    from_day: days.from,
    to_day: days.to,
    // A whole list has about as many rows as are stored; the answer corrects the page.
    next_page: days.from === null && days.to === null ? lastPage(rows) : 1,
    run_id: task.sync.runId,
    started_at: now(task.sync),
  })
  await fenced(task, connection => openScan(connection, row))
  return row
}

/** False when a window never settled. */
async function readWindows(task: ResourceTask, sweep: SweepRow): Promise<boolean> {
  const { engine } = task.sync
  const watermark = await readWatermark(engine, task.resource.name)
  const paging = watermark ? pagingOf(watermark) : {}
  for (;;) {
    const windows = await sweepScans(engine, sweep.sweep_id)
    const open = windows.find(({ state }) => state === 'scanning') ?? (await openNext(task, sweep, windows))
    if (!open) {
      const total = windows.reduce((sum, { greatest_total }) => sum + Number(greatest_total), 0)
      await fenced(task, connection => updateSweep(connection, sweep.sweep_id, { total }))
      return true
    }
    const days = { from: open.from_day, to: open.to_day }
    const query = { ...byUpdate, fields: sweptFields, ...daysQuery(task, days) }
    if (!(await sweepWindow(task, { row: open, query, ...paging }))) return false
  }
}

/** Sweeps one list: reads it whole, compares it, confirms candidates and tombstones what is proved. */
export async function sweepList(task: ResourceTask, options: SweepOptions): Promise<void> {
  const watermark = await readWatermark(task.sync.engine, task.resource.name)
  if (!watermark?.backfilled_at) {
    task.counters.note = 'not synced yet: there is nothing to compare with'
    return
  }
  const sweep = await sweepToRead(task)
  if (!(await readWindows(task, sweep))) {
    throw await unsettled(task, sweep)
  }
  const doubt = await judgeSweep(task, sweep, options.most)
  if (doubt) throw doubt
  await tombstoneProved(task, options.most)
}
