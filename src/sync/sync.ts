/** A sync run: every resource the key may read, side by side, with one outcome each. */
import PQueue from 'p-queue'
import { AccessDenied, KeyRefused } from '../api/errors.ts'
import { BudgetSpent, ConfigError, DiskFull, MusterError } from '../lib/errors.ts'
import { collections } from '../resources/catalogue.ts'
import type { Resource } from '../resources/resource.ts'
import { recordAccess } from '../warehouse/ledger/access.ts'
import { driftedPaths } from '../warehouse/ledger/drift.ts'
import { reasonBehind, releaseLease, takeLease } from '../warehouse/ledger/leases.ts'
import { noFigures, recordResource } from '../warehouse/ledger/runs.ts'
import { stagePlan } from '../warehouse/stage/plan.ts'
import { backfillBetween } from './backfill.ts'
import { syncCollection } from './collection.ts'
import { now, type ResourceTask, type SyncContext, type Tally } from './context.ts'
import { keepRenewing } from './hold-lease.ts'
import { loadKey } from './key.ts'
import { syncSnapshot } from './snapshot.ts'

export interface ResourceOutcome extends Readonly<Tally> {
  readonly resource: string
  readonly state: 'done' | 'failed' | 'skipped' | 'stopped'
  readonly error?: unknown
}

export interface SyncRequest {
  /** Names of collections; all when empty. */
  readonly resources: readonly string[]
  /** Walk these created days again instead of what changed. */
  readonly between?: { readonly from: string; readonly to: string }
}

/** Walks that run side by side; the proof needs order within a walk only. */
const walksAtOnce = 4

async function openTask(sync: SyncContext, resource: Resource): Promise<ResourceTask> {
  const lease = await takeLease(sync.engine, {
    resource: resource.name,
    holder: sync.runId,
    ms: sync.leaseMs,
  })
  const drifted = new Set(await driftedPaths(sync.engine, resource.name))
  return { sync, resource, plan: stagePlan(resource), lease, tally: { ...noFigures, note: null }, drifted }
}

function work(task: ResourceTask, { between }: SyncRequest): Promise<void> {
  if (task.resource.name === 'key') return loadKey(task)
  if (task.resource.read.strategy === 'snapshot') return syncSnapshot(task)
  return between ? backfillBetween(task, between.from, between.to) : syncCollection(task)
}

/** Reasons to stop the whole run rather than one resource. */
const endsRun = (error: unknown): boolean =>
  [BudgetSpent, KeyRefused, ConfigError, DiskFull].some(reason => error instanceof reason)

function stateOf(error: unknown, sync: SyncContext): ResourceOutcome['state'] {
  if (error instanceof AccessDenied) return 'skipped'
  return error instanceof BudgetSpent || sync.signal.aborted ? 'stopped' : 'failed'
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

async function report(
  task: ResourceTask,
  state: ResourceOutcome['state'],
  error?: unknown,
): Promise<ResourceOutcome> {
  const { sync, resource, tally } = task
  const note = error === undefined ? tally.note : messageOf(error)
  await recordResource(sync.engine, {
    run_id: sync.runId,
    resource: resource.name,
    state,
    requests: tally.requests,
    records_read: tally.records_read,
    rows_inserted: tally.rows_inserted,
    rows_changed: tally.rows_changed,
    rows_removed: tally.rows_removed,
    records_unchanged: tally.records_unchanged,
    quarantined: tally.quarantined,
    note,
  })
  const denied = error instanceof AccessDenied
  if (denied || state === 'done') {
    const access = denied ? ('refused' as const) : ('readable' as const)
    await recordAccess(sync.engine, {
      resource: resource.name,
      state: access,
      reason: denied ? note : null,
      checked_at: now(sync),
    })
  }
  sync.emit({
    resource: resource.name,
    state: state === 'stopped' ? 'failed' : state,
    rows: tally.records_read,
    changed: tally.rows_inserted + tally.rows_changed + tally.rows_removed,
    requests: tally.requests,
    ...(note !== null && { note }),
  })
  return { ...tally, note, resource: resource.name, state, ...(error !== undefined && { error }) }
}

/** A warehouse that is out of reach keeps nobody from telling what happened: the next run makes up for its ledger. */
async function reportFailure(task: ResourceTask, thrown: unknown): Promise<ResourceOutcome> {
  const { sync, resource, lease, tally } = task
  const error = await reasonBehind(sync.engine, lease, thrown).catch(() => thrown)
  const state = stateOf(error, sync)
  const note = messageOf(error)
  return report(task, state, error).catch(() => ({ ...tally, note, resource: resource.name, state, error }))
}

/** Without the lease nothing is written of a resource: its state is for the holder to tell. */
function notOurs(sync: SyncContext, resource: Resource, error: unknown): ResourceOutcome {
  const note = messageOf(error)
  sync.emit({ resource: resource.name, state: 'failed', note })
  return { ...noFigures, note, resource: resource.name, state: stateOf(error, sync), error }
}

async function runTask(
  sync: SyncContext,
  resource: Resource,
  request: SyncRequest,
): Promise<ResourceOutcome> {
  let task: ResourceTask
  try {
    task = await openTask(sync, resource)
  } catch (error) {
    return notOurs(sync, resource, error)
  }
  const endRenewing = keepRenewing(sync.engine, task.lease)
  try {
    await work(task, request)
    return await report(task, 'done')
  } catch (error) {
    return await reportFailure(task, error)
  } finally {
    await endRenewing()
    // Left behind it is free as soon as this process is gone.
    await releaseLease(sync.engine, task.lease).catch(() => undefined)
  }
}

async function notForThisKey(sync: SyncContext, resource: Resource): Promise<ResourceOutcome> {
  const note = 'agency keys cannot read it'
  await recordAccess(sync.engine, {
    resource: resource.name,
    state: 'not for this kind of key',
    reason: note,
    checked_at: now(sync),
  })
  sync.emit({ resource: resource.name, state: 'skipped', note })
  return { ...noFigures, note, resource: resource.name, state: 'skipped' }
}

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
    else outcomes.push(await runTask(sync, resource, request))
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
  return new MusterError({
    what: `${failed.map(({ resource }) => resource).join(', ')} failed: ${messageOf(first?.error)}`,
    next: 'what the other resources read is loaded; run again, or look at muster runs',
    cause: first?.error,
  })
}
