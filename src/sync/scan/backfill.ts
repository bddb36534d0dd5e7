/** The first reading of a collection: created-date windows, newest first, each proved and resumable by itself. */

import { lastPage } from '../../api/client/paging.ts'
import { utcDay } from '../../lib/dates.ts'
import { ledger } from '../../state/ledger.ts'
import { readWatermark } from '../../state/scans/watermarks.ts'
import { updateWindow } from '../../state/scans/windows.ts'
import type { WatermarkTable, WindowTable } from '../../state/schema.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { byUpdate, daysQuery, moveMark, newWindow, walkOf } from './collection-window.ts'
import { readWindow } from './read-window.ts'
import { spanOf } from './times.ts'
import type { WalkState } from './walk.ts'
import { type BackfillExtent, type Days, firstWindow, nextWindow, pagesPerWindow } from './windows.ts'

interface First {
  readonly total: number
  readonly records: readonly unknown[]
}

async function first(task: ResourceTask, limit: number, order: Record<string, string>): Promise<First> {
  const { sync, resource, tally } = task
  const page = await sync.client.getPage(resource.path, { ...resource.query, page: 1, limit, ...order })
  tally.requests += 1
  return { total: page.meta.total, records: page.records() }
}

/**
 * Two requests tell how large the backfill is, where it ends, and the mark that holds when it is complete: whatever
 * changes while it runs is newer than that mark.
 */
async function measure(task: ResourceTask): Promise<void> {
  const { resource } = task
  const updatedAt = resource.updatedAt ?? 'updatedAt'
  // Some more than one, in case the newest has a time that cannot be.
  const { total, records } = await first(task, 20, { sortBy: 'updatedAt', sortOrder: 'desc' })
  if (lastPage(total) <= pagesPerWindow || !walkOf(task).createdBetween) {
    await fenced(task, () => moveMark(task, { remembered_total: total, earliest_day: null }))
    return
  }
  const oldest = await first(task, 1, { sortBy: 'createdAt', sortOrder: 'asc' })
  const created = (oldest.records[0] as { createdAt?: string } | undefined)?.createdAt
  const found = {
    pending_mark: spanOf(records, updatedAt, task.sync.clock.now()).newest ?? null,
    remembered_total: total,
    earliest_day: created === undefined ? null : utcDay(created),
  }
  await fenced(task, () => moveMark(task, found))
}

/** Windows of the backfill that are not accepted: cut off, or refused by an earlier run. */
async function openWindows({ sync, resource }: ResourceTask): Promise<WindowTable[]> {
  const rows = await ledger(sync.engine)
    .selectFrom('ops.window')
    .selectAll()
    .where('resource', '=', resource.name)
    .where('kind', '=', 'backfill')
    .where('scope', 'is', null)
    .where('state', '<>', 'accepted')
    .orderBy('window_id')
    .execute()
  return rows.filter(({ state, run_id: run }) => state === 'walking' || run !== sync.runId)
}

async function newestPlanned({ sync, resource }: ResourceTask): Promise<WindowTable | undefined> {
  const [row] = await ledger(sync.engine)
    .selectFrom('ops.window')
    .selectAll()
    .where('resource', '=', resource.name)
    .where('kind', '=', 'backfill')
    .where('scope', 'is', null)
    .orderBy('window_id', 'desc')
    .limit(1)
    .execute()
  return row
}

/** Sets the mark when this window was the last one open, whichever it is, and the oldest record is covered. */
async function finishBackfill(task: ResourceTask, window: WindowTable, state: WalkState): Promise<void> {
  const mark = await readWatermark(task.sync.engine, task.resource.name)
  const others = await ledger(task.sync.engine)
    .selectFrom('ops.window')
    .select(['state', 'from_day'])
    .where('resource', '=', task.resource.name)
    .where('kind', '=', 'backfill')
    .where('scope', 'is', null)
    .where('window_id', '<>', window.window_id)
    .execute()
  if (others.some(other => other.state !== 'accepted')) return
  if (window.from_day !== null && !others.some(other => other.from_day === null)) return
  const pending = mark?.pending_mark ?? null
  await moveMark(task, {
    mark: pending ?? state.firstMark,
    pending_mark: null,
    backfilled_at: now(task.sync),
    ...(pending === null && { remembered_total: state.lastTotal }),
  })
}

/** Ends when the window is accepted or refused. */
function walk(
  task: ResourceTask,
  window: WindowTable,
  at: { mark: WatermarkTable; onFetched?: (state: WalkState) => Promise<void> },
): Promise<void> {
  const days = { from: window.from_day, to: window.to_day }
  const isWhole = days.from === null && days.to === null
  const { mark, onFetched } = at
  return readWindow(task, {
    window,
    query: { ...task.resource.query, ...byUpdate, ...daysQuery(task, days) },
    beginAt: isWhole ? lastPage(Number(mark.remembered_total ?? 0)) : 1,
    ...(onFetched && { onFetched }),
    finish: state => finishBackfill(task, window, state),
  })
}

function extentOf({ sync }: ResourceTask, mark: WatermarkTable): BackfillExtent {
  const today = utcDay(sync.clock.now())
  return { total: Number(mark.remembered_total ?? 0), earliest: mark.earliest_day ?? today, today }
}

async function firstDays(task: ResourceTask, mark: WatermarkTable): Promise<Days | undefined> {
  const planned = await newestPlanned(task)
  if (planned)
    return nextWindow(
      { from: planned.from_day, to: planned.to_day, pages: Number(planned.pages) },
      extentOf(task, mark),
    )
  return mark.pending_mark === null ? { from: null, to: null } : firstWindow(extentOf(task, mark))
}

interface Fetched {
  readonly settled: Promise<void>
  /** The window to walk after this one. */
  readonly next: WindowTable | undefined
}

/** Windows that are fetched and not loaded yet: one is being merged, one staged, and the pages of one are waiting. */
const mostAhead = 2

/** Resolves when the last page of the window is fetched; its rows may still be loading. */
function fetchWindow(task: ResourceTask, window: WindowTable, mark: WatermarkTable): Promise<Fetched> {
  return new Promise((resolve, reject) => {
    let isFetched = false
    const settled: Promise<void> = walk(task, window, {
      mark,
      onFetched: async ({ pages }) => {
        // A walk over a page that turned out to be no JSON ends again: by then the next window is there.
        if (isFetched) return
        isFetched = true
        const days = nextWindow({ from: window.from_day, to: window.to_day, pages }, extentOf(task, mark))
        const next = days && (await newWindow(task, { ...days, kind: 'backfill' }))
        resolve({ settled: Promise.resolve().then(() => settled), next })
      },
    })
    settled.catch(reject)
  })
}

/** Windows are fetched while those before them are loaded; whichever is accepted last sets the mark. */
async function walkNewWindows(task: ResourceTask, mark: WatermarkTable): Promise<void> {
  const days = await firstDays(task, mark)
  let window = days && (await newWindow(task, { ...days, kind: 'backfill' }))
  const loads: Promise<void>[] = []
  let isFailed = false
  try {
    while (window && !isFailed) {
      const fetched: Fetched = await fetchWindow(task, window, mark)
      fetched.settled.catch(() => {
        isFailed = true
      })
      loads.push(fetched.settled)
      await loads.at(-1 - mostAhead)
      window = fetched.next
    }
  } finally {
    // Nothing of this task may still be writing when the caller gives the lease back.
    await Promise.allSettled(loads)
  }
  await Promise.all(loads)
}

/** A window that an earlier run left is walked on from its last commit, or from its beginning when it was refused. */
async function reopen(task: ResourceTask, window: WindowTable, mark: WatermarkTable): Promise<void> {
  const change = {
    state: 'walking' as const,
    attempt: 1,
    pages: 0,
    greatest_total: 0,
    first_mark: null,
    next_page: 1,
    run_id: task.sync.runId,
  }
  const isRefused = window.state === 'refused'
  if (isRefused) await fenced(task, () => updateWindow(task.sync.engine, window.window_id, change))
  await walk(task, isRefused ? { ...window, ...change } : window, { mark })
}

/** Newest windows first; the mark is set together with the last rows of the last window. */
export async function backfill(task: ResourceTask): Promise<void> {
  const { engine } = task.sync
  if (!(await readWatermark(engine, task.resource.name))) await measure(task)
  const mark = await readWatermark(engine, task.resource.name)
  if (!mark) return
  for (const window of await openWindows(task)) await reopen(task, window, mark)
  const isDone = (await readWatermark(engine, task.resource.name))?.backfilled_at !== null
  if (!isDone) await walkNewWindows(task, mark)
}
