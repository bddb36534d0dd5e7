/** A sync run: every resource the key may read, side by side, with one outcome each. */
import PQueue from 'p-queue'
import { KeyRefused } from '../api/errors.ts'
import { BudgetSpent, ConfigError, DiskFull, MusterError } from '../lib/errors.ts'
import { collections } from '../resources/catalogue.ts'
import type { Resource } from '../resources/resource.ts'
import { backfillBetween } from './backfill.ts'
import { syncCollection } from './collection.ts'
import type { ResourceTask, SyncContext } from './context.ts'
import { HeldBack } from './held-back.ts'
import { loadKey } from './key.ts'
import { syncSnapshot } from './snapshot.ts'
import { messageOf, notForThisKey, type ResourceOutcome, runTask } from './task.ts'

export type { ResourceOutcome } from './task.ts'

export interface SyncRequest {
  /** Names of collections; all when empty. */
  readonly resources: readonly string[]
  /** Walk these created days again instead of what changed. */
  readonly between?: { readonly from: string; readonly to: string }
}

/** Walks that run side by side; the proof needs order within a walk only. */
const walksAtOnce = 4

function work(task: ResourceTask, { between }: SyncRequest): Promise<void> {
  if (task.resource.name === 'key') return loadKey(task)
  if (task.resource.read.strategy === 'snapshot') return syncSnapshot(task)
  return between ? backfillBetween(task, between.from, between.to) : syncCollection(task)
}

/** Reasons to stop the whole run rather than one resource. */
export const endsRun = (error: unknown): boolean =>
  [BudgetSpent, KeyRefused, ConfigError, DiskFull].some(reason => error instanceof reason)

/** Resources by name, in catalogue order; names that no sync reads are the caller's to refuse. */
export function chosenResources(names: readonly string[]): Resource[] {
  return collections.filter(({ name }) => names.length === 0 || names.includes(name))
}

/**
 * Snapshots follow the walks, because some of them are asked for project by project. A failure of one resource leaves
 * the others alone; a spent budget, a refused key or a full disk ends the run, with everything read so far loaded.
 */
export async function syncResources(sync: SyncContext, request: SyncRequest): Promise<ResourceOutcome[]> {
  const outcomes: ResourceOutcome[] = []
  const lanes = new PQueue({ concurrency: walksAtOnce })
  const one = async (resource: Resource): Promise<void> => {
    if (outcomes.some(({ error }) => endsRun(error)) || sync.signal.aborted) return
    if (resource.keys === 'company' && sync.key.kind === 'agency')
      outcomes.push(await notForThisKey(sync, resource))
    else outcomes.push(await runTask(sync, resource, task => work(task, request)))
  }
  const chosen = chosenResources(request.resources)
  for (const strategy of ['walk', 'snapshot'] as const) {
    const tasks = chosen.filter(({ read }) => read.strategy === strategy)
    try {
      await lanes.addAll(tasks.map(resource => () => one(resource)))
    } finally {
      // The ledger itself could not be written: no lane may go on when the run is closed.
      lanes.clear()
      await lanes.onIdle()
    }
  }
  return outcomes
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

/** The most telling reason among the outcomes; undefined when all is well. */
export function failureAmong(outcomes: readonly ResourceOutcome[]): MusterError | undefined {
  const errors = outcomes.flatMap(({ error, state }) =>
    error === undefined || state === 'skipped' ? [] : [error],
  )
  const ending =
    errors.find(error => endsRun(error) && !(error instanceof BudgetSpent)) ??
    errors.find(error => error instanceof BudgetSpent)
  const failed = outcomes.filter(({ state }) => state === 'failed')
  if (ending instanceof MusterError) return ending
  if (failed.length === 0) return undefined
  const [first] = failed
  if (failed.every(({ error }) => error instanceof HeldBack)) return heldBackAmong(failed)
  return new MusterError({
    what: `${failed.map(({ resource }) => resource).join(', ')} failed: ${messageOf(first?.error)}`,
    next: 'what the other resources read is loaded; run again, or look at muster runs',
    cause: first?.error,
  })
}
