/** Reads collections that have no change time: whole, scope by scope, each replaced in one transaction. */
import { AccessDenied, NotFound } from '../api/errors.ts'
import { lastPage, PAGE_LIMIT } from '../api/paging.ts'
import type { LandedPage } from '../landing/folder.ts'
import { MusterError } from '../lib/errors.ts'
import type { Snapshot } from '../resources/resource.ts'
import { openWindow, updateWindow } from '../warehouse/ledger/windows.ts'
import { now, type ResourceTask } from './context.ts'
import { loadPages } from './load-pages.ts'
import { dueScopes, type Scope } from './scopes.ts'

/** A list that keeps changing between its pages is left for the next night; the warehouse keeps the last good one. */
const mostAttempts = 4

interface Reading {
  readonly pages: readonly LandedPage[]
  /** What the service claimed; undefined for a single object, which is whole by itself. */
  readonly total?: number
}

function pathOf(task: ResourceTask, scope: Scope): string {
  return task.resource.path.replace('{company}', encodeURIComponent(scope.company ?? ''))
}

async function landPage(
  task: ResourceTask,
  windowId: string,
  at: { sequence: number; page: number; bytes: Buffer; fetchedAt: string },
) {
  task.tally.requests += 1
  return task.sync.landing.land(windowId, { ...at, runId: task.sync.runId })
}

/** An answer without its list is no empty list: taken for one, it would remove every row of the scope. */
function requireEntries(task: ResourceTask, scope: Scope, record: Record<string, unknown>): void {
  if ((task.resource.read as Snapshot).rows !== 'data.entries' || Array.isArray(record.entries)) return
  throw new MusterError({
    what: 'bad answer: data.entries is not a list',
    where: `GET ${pathOf(task, scope)}`,
    next: 'the last complete snapshot stays; run again, and tell the service about it if it stays',
  })
}

async function readObject(task: ResourceTask, scope: Scope, windowId: string): Promise<Reading> {
  const answer = await task.sync.client.getRecord(pathOf(task, scope), {
    ...task.resource.query,
    ...scope.query,
  })
  requireEntries(task, scope, answer.record)
  return { pages: [await landPage(task, windowId, { ...answer, sequence: 1, page: 1 })] }
}

/** Complete when every page told the same total and the rows add up to it; undefined when the list moved meanwhile. */
async function readList(
  task: ResourceTask,
  scope: Scope,
  at: { windowId: string; sequence: number },
): Promise<Reading | undefined> {
  const pages: LandedPage[] = []
  const totals = new Set<number>()
  let rows = 0
  for (let page = 1; page === 1 || page <= lastPage(Math.max(...totals)); page += 1) {
    const query = { ...task.resource.query, ...scope.query, page, limit: PAGE_LIMIT }
    const answer = await task.sync.client.getPage(pathOf(task, scope), query)
    pages.push(await landPage(task, at.windowId, { ...answer, sequence: at.sequence + page, page }))
    totals.add(answer.meta.total)
    rows += answer.records().length
  }
  const [total = 0] = totals
  return totals.size === 1 && rows === total ? { pages, total } : undefined
}

async function readScope(task: ResourceTask, scope: Scope, windowId: string): Promise<Reading> {
  if ((task.resource.read as Snapshot).rows !== 'data') return readObject(task, scope, windowId)
  let sequence = 0
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    const reading = await readList(task, scope, { windowId, sequence })
    if (reading) return reading
    sequence = Math.max(...task.sync.landing.pages(windowId).map(page => page.sequence))
  }
  throw new MusterError({
    what: `the list changed while it was read, ${mostAttempts} times`,
    where: `GET ${pathOf(task, scope)}`,
    next: 'the last complete snapshot stays; run again when the service is quieter',
  })
}

async function loadScope(
  task: ResourceTask,
  scope: Scope,
  at: { windowId: string; reading: Reading },
): Promise<void> {
  const { sync } = task
  const { reading, windowId } = at
  await loadPages(task, {
    pages: reading.pages,
    rows: (task.resource.read as Snapshot).rows,
    scope: () => scope.columns,
    snapshot: { extent: scope.extent, time: now(sync), run: sync.runId },
    commit: async loaded => {
      await updateWindow(sync.engine, windowId, {
        state: 'accepted',
        accepted_at: now(sync),
        next_page: 0,
        pages: reading.pages.length,
        loaded_sequence: Math.max(...reading.pages.map(page => page.sequence)),
        greatest_total: reading.total ?? loaded.records,
        distinct_ids: loaded.records,
      })
    },
  })
}

async function beginScope(task: ResourceTask, scope: Scope, number: number): Promise<string> {
  const { sync, resource } = task
  const windowId = `${sync.runId}-${resource.name}-${String(number).padStart(4, '0')}`
  sync.landing.begin(windowId, { resource: resource.name, scope: scope.columns, extent: scope.extent })
  await openWindow(sync.engine, {
    window_id: windowId,
    resource: resource.name,
    kind: 'snapshot',
    from_day: scope.query.from ?? null,
    to_day: scope.query.to ?? null,
    scope: scope.name,
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
  })
  return windowId
}

async function syncScope(task: ResourceTask, scope: Scope, number: number): Promise<void> {
  const windowId = await beginScope(task, scope, number)
  try {
    await loadScope(task, scope, { windowId, reading: await readScope(task, scope, windowId) })
  } catch (error) {
    await updateWindow(task.sync.engine, windowId, { state: 'refused' })
    task.sync.landing.discard(windowId)
    throw error
  }
}

/** Scopes are read anew each time, so one that a killed run left half read is of no use. */
async function forgetHalfRead({ sync, resource }: ResourceTask): Promise<void> {
  const left = await sync.engine.ledger
    .updateTable('ops.window')
    .set({ state: 'refused' })
    .where('resource', '=', resource.name)
    .where('kind', '=', 'snapshot')
    .where('state', '=', 'walking')
    .returning('window_id')
    .execute()
  for (const { window_id: id } of left) sync.landing.discard(id)
}

/** One company may refuse what another grants; only when all refuse is the resource out of reach. */
export async function syncSnapshot(task: ResourceTask): Promise<void> {
  await forgetHalfRead(task)
  const scopes = await dueScopes(task)
  const refused: string[] = []
  let done = 0
  for (const [index, scope] of scopes.entries()) {
    try {
      await syncScope(task, scope, index + 1)
      done += 1
    } catch (error) {
      if (!(error instanceof AccessDenied || error instanceof NotFound)) throw error
      if (done === 0 && index === scopes.length - 1) throw error
      refused.push(scope.name)
    }
    task.sync.emit({
      resource: task.resource.name,
      state: 'walking',
      pagesDone: index + 1,
      pagesTotal: scopes.length,
      rows: task.tally.records_read,
      requests: task.tally.requests,
    })
  }
  if (refused.length > 0) task.tally.note = `not readable for ${refused.length} of ${scopes.length} scopes`
}
