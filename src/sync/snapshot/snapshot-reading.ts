/** Reads one scope of a snapshot whole, or not at all. */
import { createHash } from 'node:crypto'
import { lastPage, PAGE_LIMIT } from '../../api/client/paging.ts'
import type { Snapshot } from '../../contract/fields/resource.ts'
import type { LandedPage } from '../../landing/folder.ts'
import { MusterError } from '../../lib/errors.ts'
import type { ResourceTask } from '../run/context.ts'
import type { Scope } from './scopes.ts'

/** A list that keeps changing between its pages is left for the next night; the warehouse keeps the last good one. */
const mostAttempts = 4

export interface Reading {
  readonly pages: readonly LandedPage[]
  /** Rows on the pages, which is as many as the service claimed. */
  readonly total: number
  /** Of a list: the same for the same rows in whatever order. */
  readonly digest?: string
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

/** Rows in a single object. An answer without its list is no empty list: it would remove every row of the scope. */
function rowsIn(task: ResourceTask, scope: Scope, record: Record<string, unknown>): number {
  if ((task.resource.read as Snapshot).rows !== 'data.entries') return 1
  if (Array.isArray(record.entries)) return record.entries.length
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
  const total = rowsIn(task, scope, answer.record)
  return { pages: [await landPage(task, windowId, { ...answer, sequence: 1, page: 1 })], total }
}

/** Complete when every page told the same total and the rows add up to it; undefined when the list moved meanwhile. */
async function readList(
  task: ResourceTask,
  scope: Scope,
  at: { windowId: string; sequence: number },
): Promise<Reading | undefined> {
  const pages: LandedPage[] = []
  const totals = new Set<number>()
  const rows: string[] = []
  for (let page = 1; page === 1 || page <= lastPage(Math.max(...totals)); page += 1) {
    const query = { ...task.resource.query, ...scope.query, page, limit: PAGE_LIMIT }
    const answer = await task.sync.client.getPage(pathOf(task, scope), query)
    pages.push(await landPage(task, at.windowId, { ...answer, sequence: at.sequence + page, page }))
    totals.add(answer.meta.total)
    rows.push(...answer.records().map(row => JSON.stringify(row)))
  }
  const [total = 0] = totals
  if (totals.size !== 1 || rows.length !== total) return undefined
  return { pages, total, digest: createHash('sha256').update(rows.sort().join('\n')).digest('hex') }
}

function restless(task: ResourceTask, scope: Scope): MusterError {
  return new MusterError({
    what: `the list changed while it was read, ${mostAttempts} times`,
    where: `GET ${pathOf(task, scope)}`,
    next: 'the last complete snapshot stays; run again when the service is quieter',
  })
}

const lastSequence = ({ sync }: ResourceTask, windowId: string): number =>
  Math.max(0, ...sync.landing.pages(windowId).map(page => page.sequence))

export async function readScope(task: ResourceTask, scope: Scope, windowId: string): Promise<Reading> {
  if ((task.resource.read as Snapshot).rows !== 'data') return readObject(task, scope, windowId)
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    const reading = await readList(task, scope, { windowId, sequence: lastSequence(task, windowId) })
    if (reading) return reading
  }
  throw restless(task, scope)
}

/**
 * Reads a list until two readings in a row show the same rows. When a row of a page that was read is deleted and another is
 * appended before the next page, one between them slides past, and the totals agree all the same.
 */
export async function readAgain(
  task: ResourceTask,
  scope: Scope,
  before: { windowId: string; reading: Reading },
): Promise<Reading> {
  const { windowId } = before
  let { digest } = before.reading
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    const reading = await readList(task, scope, { windowId, sequence: lastSequence(task, windowId) })
    if (reading && reading.digest === digest) return reading
    if (reading) digest = reading.digest
  }
  throw restless(task, scope)
}
