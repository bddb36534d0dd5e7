/** Brings one listable collection up to date: a backfill the first time, then walks over what changed. */
import { lastPage } from '../api/paging.ts'
import type { Walk } from '../resources/resource.ts'
import type { WatermarkTable, WindowTable } from '../warehouse/ledger/schema.ts'
import { moveWatermark, readWatermark } from '../warehouse/ledger/watermarks.ts'
import { openWindow, unfinishedWindow } from '../warehouse/ledger/windows.ts'
import { now, type ResourceTask } from './context.ts'
import { readWindow } from './read-window.ts'
import { isLater, spanOf, utcDay } from './times.ts'
import { type BackfillExtent, type Days, firstWindow, nextWindow, pagesPerWindow } from './windows.ts'

const byUpdate = { sortBy: 'updatedAt', sortOrder: 'asc' }

const walkOf = ({ resource }: ResourceTask): Walk => resource.read as Walk

function daysQuery(task: ResourceTask, { from, to }: Days): Record<string, string> {
  const { createdBetween } = walkOf(task)
  if (from === null && to === null) return {}
  return { ...createdBetween, ...(from !== null && { from }), ...(to !== null && { to }) }
}

/** Creates the window's ledger row and its landing folder. */
export async function newWindow(
  task: ResourceTask,
  kind: WindowTable['kind'],
  days: Days,
): Promise<WindowTable> {
  const { sync, resource } = task
  const [count] = await sync.engine.rows<{ n: number }>(
    'select count(*) as n from ops.window where run_id = $1',
    [sync.runId],
  )
  const row: WindowTable = {
    window_id: `${sync.runId}-${String(Number(count?.n ?? 0) + 1).padStart(4, '0')}-${resource.name}`,
    resource: resource.name,
    kind,
    from_day: days.from,
    to_day: days.to,
    scope: null,
    state: 'walking',
    attempt: 1,
    next_page: 1,
    loaded_sequence: 0,
    pages: 0,
    greatest_total: 0,
    distinct_ids: 0,
    first_mark: null,
    run_id: sync.runId,
    started_at: now(sync),
    accepted_at: null,
  }
  sync.landing.begin(row.window_id, { resource: resource.name, scope: {} })
  await openWindow(sync.engine, row)
  return row
}

async function move(task: ResourceTask, change: Partial<WatermarkTable>): Promise<void> {
  const { sync, resource } = task
  await moveWatermark(sync.engine, resource.name, { ...change, run_id: sync.runId, moved_at: now(sync) })
}

async function firstRecord(
  task: ResourceTask,
  query: Record<string, string | number>,
): Promise<Record<string, unknown>> {
  const { sync, resource, tally } = task
  const page = await sync.client.getPage(resource.path, { ...resource.query, page: 1, limit: 1, ...query })
  tally.requests += 1
  return { total: page.meta.total, record: page.records()[0] }
}

/**
 * Two requests tell how large the backfill is, where it ends, and the mark that holds when it is complete: whatever
 * changes while it runs is newer than that mark.
 */
async function measure(task: ResourceTask): Promise<WatermarkTable | undefined> {
  const { resource } = task
  const updatedAt = resource.updatedAt ?? 'updatedAt'
  const newest = await firstRecord(task, { sortBy: 'updatedAt', sortOrder: 'desc' })
  const total = Number(newest.total)
  if (lastPage(total) <= pagesPerWindow || !walkOf(task).createdBetween) {
    await move(task, { remembered_total: total, earliest_day: null })
    return readWatermark(task.sync.engine, resource.name)
  }
  const oldest = await firstRecord(task, { sortBy: 'createdAt', sortOrder: 'asc' })
  const created = (oldest.record as { createdAt?: string } | undefined)?.createdAt
  await move(task, {
    pending_mark: spanOf([newest.record], updatedAt).newest ?? null,
    remembered_total: total,
    earliest_day: created === undefined ? null : utcDay(created),
  })
  return readWatermark(task.sync.engine, resource.name)
}

async function lastBackfillWindow(task: ResourceTask): Promise<WindowTable | undefined> {
  const [row] = await task.sync.engine.ledger
    .selectFrom('ops.window')
    .selectAll()
    .where('resource', '=', task.resource.name)
    .where('kind', '=', 'backfill')
    .where('state', 'in', ['accepted', 'refused'])
    .where('scope', 'is', null)
    .orderBy('window_id', 'desc')
    .limit(1)
    .execute()
  return row
}

function extentOf(task: ResourceTask, mark: WatermarkTable): BackfillExtent {
  const today = utcDay(task.sync.clock.now())
  return { total: Number(mark.remembered_total ?? 0), earliest: mark.earliest_day ?? today, today }
}

async function windowToWalk(task: ResourceTask, mark: WatermarkTable): Promise<WindowTable | undefined> {
  const { sync, resource } = task
  const open = await unfinishedWindow(sync.engine, resource.name, 'backfill')
  if (open) return open
  const extent = extentOf(task, mark)
  if (mark.pending_mark === null) return newWindow(task, 'backfill', { from: null, to: null })
  const previous = await lastBackfillWindow(task)
  const days = previous
    ? nextWindow({ from: previous.from_day, to: previous.to_day, pages: Number(previous.pages) }, extent)
    : firstWindow(extent)
  return days && newWindow(task, 'backfill', days)
}

/** Newest windows first; each is resumable, and the mark is set together with the last rows of the last one. */
async function backfill(task: ResourceTask, known: WatermarkTable | undefined): Promise<void> {
  const mark = known ?? (await measure(task))
  if (!mark) return
  for (let window = await windowToWalk(task, mark); window; window = await windowToWalk(task, mark)) {
    const isLast = window.from_day === null
    await readWindow(task, {
      window,
      query: {
        ...task.resource.query,
        ...byUpdate,
        ...daysQuery(task, { from: window.from_day, to: window.to_day }),
      },
      beginAt:
        window.to_day === null && window.from_day === null ? lastPage(Number(mark.remembered_total ?? 0)) : 1,
      finish: async state => {
        if (!isLast) return
        const total = mark.pending_mark === null ? { remembered_total: state.lastTotal } : {}
        await move(task, {
          mark: mark.pending_mark ?? state.firstMark,
          pending_mark: null,
          backfilled_at: now(task.sync),
          ...total,
        })
      },
    })
    if (isLast) return
  }
}

async function incremental(task: ResourceTask, mark: WatermarkTable & { mark: string }): Promise<void> {
  const { sync, resource } = task
  const { changedSince } = walkOf(task)
  const open = await unfinishedWindow(sync.engine, resource.name, 'incremental')
  // The zone of the day filter is unknown: two days below the mark lose nothing in any of them.
  const days: Days = { from: changedSince ? utcDay(mark.mark, -2) : null, to: null }
  const window = open ?? (await newWindow(task, 'incremental', days))
  const filter: Record<string, string> =
    changedSince && window.from_day ? { ...changedSince, from: window.from_day } : {}
  await readWindow(task, {
    window,
    query: { ...resource.query, ...byUpdate, ...filter },
    // The total of a filtered list says nothing of the list of another day: its first page tells.
    beginAt: changedSince ? 1 : lastPage(Number(mark.remembered_total ?? 0)),
    stopBefore: Date.parse(mark.mark) - sync.lookbackMs,
    finish: async state => {
      const moved =
        state.firstMark !== null && isLater(state.firstMark, mark.mark) ? state.firstMark : mark.mark
      await move(task, { mark: moved, ...(changedSince ? {} : { remembered_total: state.lastTotal }) })
    },
  })
}

export async function syncCollection(task: ResourceTask): Promise<void> {
  const mark = await readWatermark(task.sync.engine, task.resource.name)
  if (mark?.mark) await incremental(task, { ...mark, mark: mark.mark })
  else await backfill(task, mark)
}

/** Walks the windows between two created days again, whatever the mark says; the mark stays where it is. */
export async function backfillBetween(task: ResourceTask, from: string, to: string): Promise<void> {
  const bounded = walkOf(task).createdBetween !== undefined
  const days: Days = bounded ? { from, to } : { from: null, to: null }
  const open = await unfinishedWindow(task.sync.engine, task.resource.name, 'backfill')
  const window =
    open?.from_day === days.from && open?.to_day === days.to ? open : await newWindow(task, 'backfill', days)
  await task.sync.engine.run(`update ops.window set scope = 'asked for' where window_id = $1`, [
    window.window_id,
  ])
  await readWindow(task, {
    window,
    query: { ...task.resource.query, ...byUpdate, ...daysQuery(task, days) },
    beginAt: 1,
    finish: async () => undefined,
  })
}
