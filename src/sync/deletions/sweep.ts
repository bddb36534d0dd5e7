/**
 * Finds deleted records: reads a full list for its ids, confirms candidates, and tombstones those with two pieces of
 * evidence.
 */
import { fewRows } from '../../api/client/envelope.ts'
import { lastPage } from '../../api/client/paging.ts'
import { dayMs, utcDay } from '../../lib/dates.ts'
import { countLive } from '../../state/evidence/absence.ts'
import { forgetSweptIds } from '../../state/scans/scan-ids.ts'
import { freshScan, openScan } from '../../state/scans/scans.ts'
import { openSweep, sweepScans, unfinishedSweep, updateSweep } from '../../state/scans/sweeps.ts'
import type { ScanRow, SweepRow } from '../../state/scans/tables.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { Incomplete } from '../run/incomplete.ts'
import { currentScope } from '../run/key.ts'
import { fenced } from '../run/renew-lease.ts'
import { byUpdate, daysQuery, pagingOf, scanOf } from '../scan/collection-window.ts'
import {
  type BackfillExtent,
  firstWindow,
  nextWindow,
  pagesPerWindow,
  type WindowDays,
} from '../scan/windows.ts'
import { judgeSweep } from './sweep-result.ts'
import { sweepWindow } from './sweep-scan.ts'
import { sweptFields } from './swept-page.ts'
import { tombstoneProved } from './tombstones.ts'

export interface SweepOptions {
  /** Only counts: one request for each list. */
  readonly counts?: boolean
  /** How many may be deleted at once, when the operator knows that they are. */
  readonly maxDeletions?: number
}

/** Day of the oldest record in a long list, with one request; null for a short list, which is a single window. */
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

/** The window that never settled is the last one read. */
async function unsettled(task: ResourceTask, sweep: SweepRow, reason: string): Promise<Incomplete> {
  const window = (await sweepScans(task.sync.engine, sweep.sweep_id)).at(-1)
  await giveUp(task, sweep, 'the list did not settle')
  return new Incomplete({
    resource: task.resource.name,
    seen: Number(window?.distinct_ids ?? 0),
    expected: Number(window?.expected_ids ?? 0),
    reason,
    next: `nothing was tombstoned; run muster sweep ${task.resource.name} again when the service is quieter`,
  })
}

/**
 * Maximum time since the sweep began or read a window: an older sweep would miss later deletions. A window has 50
 * pages, or more in a list with many rows a day; a small key's share pays for it in some days.
 */
const longestPauseMs = 7 * dayMs

async function whyGivenUp(task: ResourceTask, sweep: SweepRow): Promise<string | undefined> {
  if (sweep.scope_id !== currentScope(task)) return 'begun with a different scope'
  const last = (await sweepScans(task.sync.engine, sweep.sweep_id)).at(-1)
  const at = Date.parse(last?.accepted_at ?? last?.started_at ?? sweep.started_at)
  return task.sync.clock.now() - at > longestPauseMs ? 'not continued for a week' : undefined
}

/** The unfinished sweep of an earlier run, if it can be continued; otherwise a new one. */
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

/** Days of the window after the last one; undefined when there are no more. */
function daysAfter(
  extent: BackfillExtent,
  sweep: SweepRow,
  last: ScanRow | undefined,
): WindowDays | undefined {
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
    // A full list has about as many rows as are stored; the response corrects the page.
    next_page: days.from === null && days.to === null ? lastPage(rows) : 1,
    run_id: task.sync.runId,
    started_at: now(task.sync),
  })
  await fenced(task, connection => openScan(connection, row))
  return row
}

const unsettledReason = 'the list did not settle while it was swept'

/** Returns why a window was refused; undefined when all are read. */
async function readWindows(task: ResourceTask, sweep: SweepRow): Promise<string | undefined> {
  const { engine } = task.sync
  const watermark = await readWatermark(engine, task.resource.name)
  const { pageSize, hiddenRows } = watermark ? pagingOf(watermark) : {}
  for (;;) {
    const windows = await sweepScans(engine, sweep.sweep_id)
    // The run that refused it was killed before it gave up the sweep.
    if (windows.some(({ state }) => state === 'refused')) return unsettledReason
    const open = windows.find(({ state }) => state === 'scanning') ?? (await openNext(task, sweep, windows))
    if (!open) {
      const total = windows.reduce((sum, { last_total }) => sum + Number(last_total), 0)
      await fenced(task, connection => updateSweep(connection, sweep.sweep_id, { total }))
      return undefined
    }
    const days = { from: open.from_day, to: open.to_day }
    const query = { ...byUpdate, fields: sweptFields, ...daysQuery(task, days) }
    const found = windows.find(({ state }) => state === 'accepted')?.page_size ?? undefined
    const job = {
      row: open,
      query,
      beginSize: found === undefined ? undefined : Number(found),
      pageSize,
      hiddenRows,
    }
    const refused = await sweepWindow(task, job)
    if (refused) return refused.contradiction ?? unsettledReason
  }
}

/** Sweeps one list: reads it in full, compares it, confirms candidates, and tombstones what is proved. */
export async function sweepList(task: ResourceTask, options: SweepOptions): Promise<void> {
  const watermark = await readWatermark(task.sync.engine, task.resource.name)
  if (!watermark?.backfilled_at) {
    task.counters.note = 'not synced yet: there is nothing to compare with'
    return
  }
  const sweep = await sweepToRead(task)
  const reason = await readWindows(task, sweep)
  if (reason !== undefined) throw await unsettled(task, sweep, reason)
  const doubt = await judgeSweep(task, sweep, options.maxDeletions)
  if (doubt) throw doubt
  await tombstoneProved(task, options.maxDeletions)
}
