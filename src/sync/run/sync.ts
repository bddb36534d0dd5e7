/** A sync: every resource that the key may read, several at once, with one result each. */
import PQueue from 'p-queue'
import type { Purpose } from '../../api/budget/day.ts'
import { catalogue } from '../../contract/catalogue.ts'
import { edges } from '../../contract/derived/discovery.ts'
import { asReadBy, isCollection, type Resource } from '../../contract/fields/resource.ts'
import { BudgetSpent, Busy, MusterError } from '../../lib/errors.ts'
import { adopt, discover } from '../../state/by-id/discovered.ts'
import { recordDiscovery, unsearchedRows } from '../../state/by-id/searched-runs.ts'
import { readRecords } from '../by-id/by-id.ts'
import { HeldBack } from '../deletions/held-back.ts'
import { syncCollection } from '../scan/collection.ts'
import { readBetween } from '../scan/read-again.ts'
import { syncSnapshot } from '../snapshot/snapshot.ts'
import { now, type ResourceTask, type SyncContext } from './context.ts'
import { Incomplete, incompleteWords, joined } from './incomplete.ts'
import { loadKey } from './key.ts'
import { endsRun, messageOf, notForThisKey, type ResourceOutcome, runTask } from './task.ts'

export type { ResourceOutcome } from './task.ts'

export interface SyncRequest {
  /** Names of collections; all when empty. */
  readonly resources: readonly string[]
  /** Read these created days again instead of what changed. */
  readonly between?: { readonly from: string; readonly to: string }
  /** How many rows a snapshot may remove at once, when an operator knows that they are deleted. */
  readonly most?: number
  /** What the key may no longer read is skipped from now on. */
  readonly acceptsRefused?: boolean
  /** Of records that are read by id, only those that were signalled. */
  readonly onlySignalled?: boolean
  /** Whose part of the day pays; `sync` when left out. */
  readonly purpose?: Purpose
}

/** Lists that are read at once; a proof needs order within one scan only. */
const listsAtOnce = 4

function work(task: ResourceTask, { between }: SyncRequest): Promise<void> {
  if (task.resource.name === 'key') return loadKey(task)
  if (task.resource.read.strategy === 'snapshot') return syncSnapshot(task)
  return between ? readBetween(task, between.from, between.to) : syncCollection(task)
}

/** Resources by name, in catalogue order; names that no sync reads are the caller's to refuse. */
export function chosenResources({ resources: names, between }: SyncRequest): Resource[] {
  const readable = between ? catalogue.filter(isCollection) : catalogue
  return readable.filter(({ name }) => names.length === 0 || names.includes(name))
}

/**
 * Ids that the chosen resources name, and those that any resource names of a chosen one. To look for them reads columns of star,
 * so it is done only after a run has changed rows, and among those of this run where earlier ones have noted theirs.
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
    // The server expects one row, and would compare each id with each that is known.
    await engine.planForWholeTables()
    const isAny = rows === 'any'
    for (const resource of chosen) if (isAny && !isCollection(resource)) await adopt(engine, resource)
    await discover(engine, { edges: along, at: now(sync), ...(!isAny && { fetched: sync.loaded }) })
    await recordDiscovery(engine, { runId: sync.runId, at: now(sync), isOfAll })
  })
}

class Run {
  readonly #sync: SyncContext
  readonly #request: SyncRequest
  readonly outcomes: ResourceOutcome[] = []

  constructor(sync: SyncContext, request: SyncRequest) {
    this.#sync = sync
    this.#request = request
  }

  get isOver(): boolean {
    return this.outcomes.some(({ error }) => endsRun(error)) || this.#sync.signal.aborted
  }

  async lists(resources: readonly Resource[]): Promise<void> {
    const queue = new PQueue({ concurrency: listsAtOnce })
    try {
      await queue.addAll(resources.map(resource => () => this.#list(resource)))
    } finally {
      // The ledger could not be written: no list may go on when the run is closed.
      queue.clear()
      await queue.onIdle()
    }
  }

  /** False when it fails after a list has failed: the failure of the list says more. */
  async discover(chosen: readonly Resource[]): Promise<boolean> {
    try {
      await discoverIds(this.#sync, chosen, this.#request.resources.length === 0)
      return true
    } catch (error) {
      if (failureAmong(this.outcomes)) return false
      throw error
    }
  }

  /** Together, because records of one resource name records of others. */
  async records(resources: readonly Resource[]): Promise<void> {
    this.outcomes.push(...(await readRecords(this.#sync, resources, this.#request)))
  }

  /** Those that the key can read, as it reads them. Days are read again of lists only. */
  async readable(resources: readonly Resource[]): Promise<Resource[]> {
    const readable: Resource[] = []
    for (const resource of resources) {
      const one = asReadBy(resource, this.#sync.key.kind)
      if (one && (isCollection(one) || !this.#request.between)) readable.push(one)
      else this.outcomes.push(await notForThisKey(this.#sync, resource))
    }
    return readable
  }

  async #list(resource: Resource): Promise<void> {
    if (this.isOver) return
    this.outcomes.push(await runTask(this.#sync, resource, task => work(task, this.#request)))
  }
}

/**
 * Snapshots follow the scans, because some of them are read project by project. Records by id come last: lists name them, and
 * they use the budget that lists leave. A failure of one resource does not stop the others; a spent budget, a refused key or a
 * full disk ends the run, with everything read so far loaded.
 */
export async function syncResources(sync: SyncContext, request: SyncRequest): Promise<ResourceOutcome[]> {
  const run = new Run(sync, request)
  const chosen = await run.readable(chosenResources(request))
  // How long a run takes is unknown as long as the size of one of them is.
  if (!request.onlySignalled) for (const { name } of chosen) sync.emit({ resource: name, state: 'waiting' })
  const those = (strategy: Resource['read']['strategy']): Resource[] =>
    chosen.filter(({ read }) => read.strategy === strategy)
  await run.lists(those('scan'))
  await run.lists(those('snapshot'))
  // Signalled records come every few seconds: ids that they name are found when they are loaded.
  if (!request.onlySignalled && !(await run.discover(chosen))) return run.outcomes
  if (!run.isOver && those('byId').length > 0) await run.records(those('byId'))
  return run.outcomes
}

function heldBackAmong(outcomes: readonly ResourceOutcome[]): MusterError {
  const [first, ...others] = outcomes
  if (others.length === 0) return first?.error as HeldBack
  const lines = outcomes.map(({ error }) => (error as HeldBack).report.what)
  return new HeldBack({
    what: lines.join('; '),
    next: 'nothing of these was tombstoned; muster runs tells more',
  })
}

/** Only locks and leases of others were in the way: a run that comes later may find them free. */
const isBusy = ({ error }: ResourceOutcome): boolean => error instanceof Busy

function failedAmong(failed: readonly ResourceOutcome[], incomplete: readonly Incomplete[]): MusterError {
  const first = failed.find(outcome => !isBusy(outcome)) ?? failed[0]
  const also =
    incomplete.length === 0 ? '' : `; ${incompleteWords(incomplete.flatMap(({ shortfalls }) => shortfalls))}`
  const Failure = incomplete.length === 0 && failed.every(isBusy) ? Busy : MusterError
  return new Failure({
    what: `${failed.map(({ resource }) => resource).join(', ')} failed: ${messageOf(first?.error)}${also}`,
    next: 'what the other resources read is loaded; run again, or look at muster runs',
    cause: first?.error,
  })
}

/**
 * The most telling reason among the outcomes; undefined when all is well. A spent budget is named only when nothing else kept
 * a resource from being whole: another run alone does not mend the rest.
 */
export function failureAmong(outcomes: readonly ResourceOutcome[]): MusterError | undefined {
  const errors = outcomes.flatMap(({ error, state }) =>
    error === undefined || state === 'skipped' ? [] : [error],
  )
  const ending = errors.find(error => endsRun(error) && !(error instanceof BudgetSpent))
  if (ending instanceof MusterError) return ending
  const failed = outcomes.filter(({ state }) => state === 'failed')
  const incomplete = errors.filter(error => error instanceof Incomplete)
  if (incomplete.length === 0 && failed.length > 0 && failed.every(({ error }) => error instanceof HeldBack))
    return heldBackAmong(failed)
  if (failed.length > 0) return failedAmong(failed, incomplete)
  return joined(incomplete) ?? errors.find(error => error instanceof BudgetSpent)
}
