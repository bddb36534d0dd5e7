/** Reads one scope of a snapshot: a list until it is proved, or a single object with its rows. */

import { pageLimit } from '../../api/client/paging.ts'
import type { Snapshot } from '../../contract/fields/resource.ts'
import { MusterError } from '../../lib/errors.ts'
import { PageUnreadable } from '../../load/read/page-repair.ts'
import { lastCompleteReading } from '../../state/scans/scopes.ts'
import { beginPass } from '../paging/pass.ts'
import { anotherPass, scan } from '../paging/scan.ts'
import type { ResourceTask } from '../run/context.ts'
import { Incomplete } from '../run/incomplete.ts'
import { pathOf, type SnapshotScope } from './scopes.ts'
import { type ReadScope, type ScopeReading, type ScopeScan, SnapshotScan } from './snapshot-scan.ts'

/** Rows in a single object. A missing list is not an empty one: it would remove every row of the scope. */
function rowsIn(task: ResourceTask, scope: SnapshotScope, record: Record<string, unknown>): number {
  if ((task.resource.read as Snapshot).rows !== 'data.entries') return 1
  if (Array.isArray(record.entries)) return record.entries.length
  throw new MusterError({
    what: 'bad answer: data.entries is not a list',
    where: `GET ${pathOf(task.resource, scope)}`,
    next: 'the last complete snapshot stays; run again, and report it to the service if it persists',
  })
}

async function readObject(task: ResourceTask, { scope, scanId }: ScopeScan): Promise<ScopeReading> {
  const { sync, resource, counters } = task
  const query = { ...resource.query, ...scope.query }
  const { record, bytes, fetchedAt } = await sync.client.getRecord(pathOf(task.resource, scope), query)
  const total = rowsIn(task, scope, record)
  counters.requests += 1
  const arrived = { sequence: 1, page: 1, fetchedAt, runId: sync.runId, bytes }
  return { pages: [await sync.landing.land(scanId, arrived)], total, hidden: 0, isProved: true }
}

async function readList(task: ResourceTask, at: ScopeScan, before?: ScopeReading): Promise<ScopeReading> {
  const { engine } = task.sync
  const last = await lastCompleteReading(engine, task.resource.name, at.scope.name)
  const strategy = new SnapshotScan(task, at, { last, before })
  const landed = await task.sync.landing.pages(at.scanId)
  const sequence = Math.max(0, ...landed.map(page => page.sequence))
  const from = before?.progress
    ? anotherPass(before.progress, strategy)
    : { pass: beginPass(1), attempt: 1, starts: [], sequence, pageSize: pageLimit }
  if ((await scan(strategy, from)) === 'refused')
    throw new Incomplete({
      resource: task.resource.name,
      ...strategy.figures,
      reason: strategy.contradiction ?? `the list did not show more in ${strategy.passes} passes`,
      next: 'the last complete snapshot stays; run muster sync again when the service is quieter',
    })
  return strategy.reading
}

export function readScope(task: ResourceTask, at: ScopeScan): Promise<ScopeReading> {
  return (task.resource.read as Snapshot).rows === 'data' ? readList(task, at) : readObject(task, at)
}

/** Continues reading a list until it is proved. */
export function readAgain(task: ResourceTask, at: ScopeScan, before: ScopeReading): Promise<ScopeReading> {
  return readList(task, at, before)
}

/** Reads scopes again whose pages could not be loaded. Rethrows any other error, and the second one for a page. */
export async function readUnreadable(
  task: ResourceTask,
  group: readonly ReadScope[],
  error: unknown,
): Promise<ReadScope[]> {
  if (!(error instanceof PageUnreadable) || !task.pipeline.readAgain.add(error.pages)) throw error
  const isUnreadable = ({ reading }: ReadScope): boolean =>
    reading.pages.some(({ file }) => error.pages.some(page => page.file === file))
  const again: ReadScope[] = []
  for (const read of group)
    again.push(isUnreadable(read) ? { ...read, reading: await readScope(task, read) } : read)
  return again
}
