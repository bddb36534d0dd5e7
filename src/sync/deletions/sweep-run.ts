/** Runs a sweep: every list for its ids, and every record read by id with evidence of a deletion. */
import PQueue from 'p-queue'
import { catalogue } from '../../contract/catalogue.ts'
import { asReadBy, isCollection, type Resource } from '../../contract/fields/resource.ts'
import { formatNumber } from '../../lib/counted.ts'
import { recordCount, storedCounts } from '../../state/evidence/absence.ts'
import { resourcesWithEvidence } from '../../state/evidence/evidence.ts'
import { now, type ResourceTask, type SyncContext } from '../run/context.ts'
import { currentScope } from '../run/key.ts'
import { fenced } from '../run/renew-lease.ts'
import type { SyncRequest } from '../run/sync.ts'
import { endsRun, notForThisKey, type ResourceResult, runTask } from '../run/task.ts'
import { type SweepOptions, sweepList } from './sweep.ts'
import { tombstoneProved } from './tombstones.ts'

export interface SweepRequest extends SyncRequest {
  readonly sweep?: SweepOptions
}

/** Lists swept in parallel. */
const sweepsAtOnce = 4

/** Snapshots remove missing rows on their own. */
export const swept: readonly Resource[] = catalogue.filter(({ read }) => read.strategy !== 'snapshot')

/**
 * Compares the service's count with the stored rows, with one request. Equal counts prove little: one record may have
 * been deleted and another added. Different counts call for a sweep.
 */
async function countList(task: ResourceTask): Promise<void> {
  const { sync, resource, counters } = task
  const query = { fields: 'id', page: 1, limit: 1 }
  const { meta } = await sync.client.getPage(resource.path, query, { purpose: 'reconcile' })
  counters.requests += 1
  const scopeId = currentScope(task)
  const { stored, waiting } = await storedCounts(sync.engine, resource, scopeId)
  const row = { resource: resource.name, run_id: sync.runId, scope_id: scopeId, total: meta.total, stored }
  await fenced(task, engine => recordCount(engine, { ...row, counted_at: now(sync) }))
  const difference = stored - meta.total
  const words = [
    `${formatNumber(meta.total)} at the service, ${formatNumber(stored)} stored`,
    waiting > 0 && `${formatNumber(waiting)} wait for more evidence`,
    difference > 0 && `${formatNumber(difference)} too many: muster sweep ${resource.name}`,
    difference < 0 && `${formatNumber(-difference)} too few: muster sync, then muster sweep ${resource.name}`,
  ]
  counters.note = words.filter(Boolean).join('; ')
}

function work(task: ResourceTask, options: SweepOptions): Promise<void> {
  if (options.counts) return countList(task)
  return task.resource.read.strategy === 'scan'
    ? sweepList(task, options)
    : tombstoneProved(task, options.maxDeletions)
}

interface ChosenResources {
  /** Lists, and resources read by id with evidence against a record, in the form that the key can read. */
  readonly swept: readonly Resource[]
  readonly unreadable: readonly Resource[]
}

async function chosen(
  sync: SyncContext,
  { resources: names, sweep }: SweepRequest,
): Promise<ChosenResources> {
  const withEvidence = sweep?.counts ? new Set() : await resourcesWithEvidence(sync.engine)
  const named = swept.filter(({ name }) => names.length === 0 || names.includes(name))
  const readable = named.flatMap(one => asReadBy(one, sync.key.kind) ?? [])
  return {
    swept: readable.filter(one => isCollection(one) || withEvidence.has(one.name)),
    unreadable: named.filter(one => isCollection(one) && !asReadBy(one, sync.key.kind)),
  }
}

export async function sweepResources(sync: SyncContext, request: SweepRequest): Promise<ResourceResult[]> {
  const results: ResourceResult[] = []
  const queue = new PQueue({ concurrency: sweepsAtOnce })
  const one = async (resource: Resource): Promise<void> => {
    if (results.some(({ error }) => endsRun(error)) || sync.signal.aborted) return
    results.push(await runTask(sync, resource, task => work(task, request.sweep ?? {})))
  }
  const { swept: resources, unreadable } = await chosen(sync, request)
  for (const resource of unreadable) results.push(await notForThisKey(sync, resource))
  try {
    await queue.addAll(resources.map(resource => () => one(resource)))
  } finally {
    queue.clear()
    await queue.onIdle()
  }
  return results
}
