/** Syncs every resource that the key may read, several at once, with one result each. */
import PQueue from 'p-queue'
import type { Purpose } from '../../api/budget/day.ts'
import { catalogue } from '../../contract/catalogue.ts'
import { edges } from '../../contract/derived/discovery.ts'
import { asReadBy, isCollection, type Resource } from '../../contract/fields/resource.ts'
import { BudgetSpent, Busy, MusterError } from '../../lib/errors.ts'
import { adopt, discover, recordDiscovery, unsearchedRows } from '../../state/by-id/discovered.ts'
import { readRecords } from '../by-id/by-id.ts'
import { DeletionsHeldBack } from '../deletions/withheld-deletions.ts'
import { syncCollection } from '../scan/collection.ts'
import { readBetween } from '../scan/reread-days.ts'
import { syncSnapshot } from '../snapshot/snapshot.ts'
import { now, type ResourceTask, type SyncContext } from './context.ts'
import { Incomplete, incompleteWords, joined } from './incomplete.ts'
import { loadKey } from './key.ts'
import { endsRun, messageOf, notForThisKey, type ResourceResult, runTask } from './task.ts'

export interface SyncRequest {
  /** Names of collections; all if empty. */
  readonly resources: readonly string[]
  /** Reads these created days again instead of changes. */
  readonly between?: { readonly from: string; readonly to: string }
  /** How many rows a snapshot may remove at once, when the operator knows that they are deleted. */
  readonly maxDeletions?: number
  /** How many rows of a list the service counts but shows on no page, when the operator knows that it hides them. */
  readonly hidden?: number
  /** Skips resources that the key may no longer read, from now on. */
  readonly acceptsRefused?: boolean
  /** Reads only records with a change signal, for resources read by id. */
  readonly onlySignalled?: boolean
  /** The purpose whose budget pays; `sync` if absent. */
  readonly purpose?: Purpose
}

/** Lists read at once; a proof needs order only within one scan. */
const listsAtOnce = 4

function work(task: ResourceTask, { between }: SyncRequest): Promise<void> {
  if (task.resource.name === 'key') return loadKey(task)
  if (task.resource.read.strategy === 'snapshot') return syncSnapshot(task)
  return between ? readBetween(task, between.from, between.to) : syncCollection(task)
}

/** Resources by name, in catalogue order; the caller refuses names that no sync reads. */
export function chosenResources({ resources: names, between }: SyncRequest): Resource[] {
  const readable = between ? catalogue.filter(isCollection) : catalogue
  return readable.filter(({ name }) => names.length === 0 || names.includes(name))
}

/**
 * Finds ids that the chosen resources refer to, and references to the chosen ones. This reads columns of star, so it
 * runs only after a run has changed rows. If earlier runs have noted theirs, it searches only this run's pages.
 */
async function discoverIds(
  { engine, ...sync }: SyncContext,
  chosen: readonly Resource[],
  isOfAll: boolean,
): Promise<void> {
  const rows = await unsearchedRows(engine, { runId: sync.runId, kind: sync.key.kind })
  if (rows === 'none') return
  const names = new Set(chosen.map(({ name }) => name))
  const along = edges[sync.key.kind].filter(({ from, resource }) => names.has(from) || names.has(resource))
  await engine.transaction(async engine => {
    // The server expects one row, and would compare each id with each known id.
    await engine.planForFullScans()
    const isAny = rows === 'any'
    for (const resource of chosen) if (isAny && !isCollection(resource)) await adopt(engine, resource)
    await discover(engine, { edges: along, at: now(sync), ...(!isAny && { fetched: sync.loaded }) })
    await recordDiscovery(engine, { runId: sync.runId, at: now(sync), isOfAll })
  })
}

class SyncRun {
  readonly #sync: SyncContext
  readonly #request: SyncRequest
  readonly results: ResourceResult[] = []

  constructor(sync: SyncContext, request: SyncRequest) {
    this.#sync = sync
    this.#request = request
  }

  get isOver(): boolean {
    return this.results.some(({ error }) => endsRun(error)) || this.#sync.signal.aborted
  }

  async lists(resources: readonly Resource[]): Promise<void> {
    const queue = new PQueue({ concurrency: listsAtOnce })
    try {
      await queue.addAll(resources.map(resource => () => this.#list(resource)))
    } finally {
      // The ledger could not be written: no list may continue once the run is closed.
      queue.clear()
      await queue.onIdle()
    }
  }

  /** False when it fails after a list has failed: the list's error says more. */
  async discover(chosen: readonly Resource[]): Promise<boolean> {
    try {
      await discoverIds(this.#sync, chosen, this.#request.resources.length === 0)
      return true
    } catch (error) {
      if (failureAmong(this.results)) return false
      throw error
    }
  }

  /** Reads them together, because records of one resource refer to records of others. */
  async records(resources: readonly Resource[]): Promise<void> {
    this.results.push(...(await readRecords(this.#sync, resources, this.#request)))
  }

  /** Resources that the key can read, as it reads them. Only lists can be read again by day. */
  async readable(resources: readonly Resource[]): Promise<Resource[]> {
    const readable: Resource[] = []
    for (const resource of resources) {
      const one = asReadBy(resource, this.#sync.key.kind)
      if (one && (isCollection(one) || !this.#request.between)) readable.push(one)
      else this.results.push(await notForThisKey(this.#sync, resource))
    }
    return readable
  }

  async #list(resource: Resource): Promise<void> {
    if (this.isOver) return
    this.results.push(await runTask(this.#sync, resource, task => work(task, this.#request)))
  }
}

/**
 * Snapshots follow the scans, because some are read project by project. Records by id come last: lists refer to them,
 * and they use the budget that lists leave. A failure of one resource does not stop the others. A spent budget, a
 * refused key or a full disk ends the run, with everything read so far loaded.
 */
export async function syncResources(sync: SyncContext, request: SyncRequest): Promise<ResourceResult[]> {
  const run = new SyncRun(sync, request)
  const chosen = await run.readable(chosenResources(request))
  // Announce them all: the duration of a run is unknown until all sizes are known.
  if (!request.onlySignalled) for (const { name } of chosen) sync.emit({ resource: name, state: 'waiting' })
  const those = (strategy: Resource['read']['strategy']): Resource[] =>
    chosen.filter(({ read }) => read.strategy === strategy)
  await run.lists(those('scan'))
  await run.lists(those('snapshot'))
  // Signalled records come every few seconds: ids that they refer to are found when they are loaded.
  if (!request.onlySignalled && !(await run.discover(chosen))) return run.results
  if (!run.isOver && those('byId').length > 0) await run.records(those('byId'))
  return run.results
}

function heldBackError(results: readonly ResourceResult[]): MusterError {
  const [first, ...others] = results
  if (others.length === 0) return first?.error as DeletionsHeldBack
  const lines = results.map(({ error }) => (error as DeletionsHeldBack).report.what)
  return new DeletionsHeldBack({
    what: lines.join('; '),
    next: 'none of these were deleted; see muster runs for details',
  })
}

/** Only locks or leases of other processes were in the way: a later run may find them free. */
const isBusy = ({ error }: ResourceResult): boolean => error instanceof Busy

function failedAmong(failed: readonly ResourceResult[], incomplete: readonly Incomplete[]): MusterError {
  const first = failed.find(result => !isBusy(result)) ?? failed[0]
  const also =
    incomplete.length === 0 ? '' : `; ${incompleteWords(incomplete.flatMap(({ shortfalls }) => shortfalls))}`
  const Failure = incomplete.length === 0 && failed.every(isBusy) ? Busy : MusterError
  return new Failure({
    what: `${failed.map(({ resource }) => resource).join(', ')} failed: ${messageOf(first?.error)}${also}`,
    next: 'everything the other resources read is loaded; run again, or see muster runs',
    cause: first?.error,
  })
}

/**
 * Picks the most informative error among the results; undefined when all is well. Reports a spent budget only when
 * nothing else kept a resource incomplete: another run alone does not fix the rest.
 */
export function failureAmong(results: readonly ResourceResult[]): MusterError | undefined {
  const errors = results.flatMap(({ error, state }) =>
    error === undefined || state === 'skipped' ? [] : [error],
  )
  const ending = errors.find(error => endsRun(error) && !(error instanceof BudgetSpent))
  if (ending instanceof MusterError) return ending
  const failed = results.filter(({ state }) => state === 'failed')
  const incomplete = errors.filter(error => error instanceof Incomplete)
  if (
    incomplete.length === 0 &&
    failed.length > 0 &&
    failed.every(({ error }) => error instanceof DeletionsHeldBack)
  )
    return heldBackError(failed)
  if (failed.length > 0) return failedAmong(failed, incomplete)
  return joined(incomplete) ?? errors.find(error => error instanceof BudgetSpent)
}
