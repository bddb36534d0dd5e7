/** Runs one resource within a run: holds its lease from beginning to end, and reports its result. */
import { AccessDenied, KeyRefused } from '../../api/client/errors.ts'
import { cannotRead, type Resource } from '../../contract/fields/resource.ts'
import { BucketUnreached } from '../../landing/bucket/failure.ts'
import { BudgetSpent, ConfigError, DiskFull } from '../../lib/errors.ts'
import { stagePlan } from '../../load/read/plan.ts'
import { recordAccess } from '../../state/requests/key-state.ts'
import { reasonBehind, releaseLease, takeLease } from '../../state/runs/leases.ts'
import { noFigures, recordResource } from '../../state/runs/runs.ts'
import { refusalOf, reportAccess } from './access.ts'
import { now, type ResourceCounters, type ResourceTask, type SyncContext } from './context.ts'
import { Incomplete } from './incomplete.ts'
import { keepRenewing } from './renew-lease.ts'
import { TaskPipeline } from './task-pipeline.ts'

/** Whether an error ends the whole run: every other resource would meet it too, or its rows could not be stored. */
export const endsRun = (error: unknown): boolean =>
  [BudgetSpent, KeyRefused, ConfigError, DiskFull, BucketUnreached].some(reason => error instanceof reason)

export interface ResourceResult extends Readonly<ResourceCounters> {
  readonly resource: string
  readonly state: 'done' | 'failed' | 'incomplete' | 'skipped' | 'stopped'
  readonly error?: unknown
}

/** A resource that no other process writes until `end` is called, with the failure if there was one. */
export interface LockedTask {
  readonly task: ResourceTask
  end(failure?: { readonly error: unknown }): Promise<ResourceResult>
}

async function openTask(sync: SyncContext, resource: Resource): Promise<ResourceTask> {
  const lease = await takeLease(sync.engine, {
    resource: resource.name,
    holder: sync.runId,
    ms: sync.leaseMs,
  })
  const task = {
    sync,
    resource,
    plan: stagePlan(resource),
    lease,
    counters: { ...noFigures, note: null },
  }
  return { ...task, pipeline: new TaskPipeline(task) }
}

function stateOf(error: unknown, sync: SyncContext): ResourceResult['state'] {
  if (error instanceof AccessDenied) return 'skipped'
  if (error instanceof Incomplete) return 'incomplete'
  return error instanceof BudgetSpent || sync.signal.aborted ? 'stopped' : 'failed'
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

async function report(
  task: ResourceTask,
  state: ResourceResult['state'],
  error?: unknown,
): Promise<ResourceResult> {
  const { sync, resource, counters } = task
  const note = error === undefined ? counters.note : messageOf(error)
  await recordResource(sync.engine, {
    run_id: sync.runId,
    resource: resource.name,
    state,
    requests: counters.requests,
    records_read: counters.records_read,
    rows_inserted: counters.rows_inserted,
    rows_changed: counters.rows_changed,
    records_touched: counters.records_touched,
    rows_removed: counters.rows_removed,
    records_unchanged: counters.records_unchanged,
    quarantined: counters.quarantined,
    note,
  })
  await reportAccess(task, error)
  sync.emit({
    resource: resource.name,
    state: state === 'stopped' ? 'failed' : state,
    rows: counters.records_read,
    changed: counters.rows_inserted + counters.rows_changed + counters.rows_removed,
    requests: counters.requests,
    ...(note !== null && { note }),
  })
  return { ...counters, note, resource: resource.name, state, ...(error !== undefined && { error }) }
}

/** Returns the failure even when the warehouse cannot be reached to record it: the next run completes the ledger. */
async function reportFailure(task: ResourceTask, thrown: unknown): Promise<ResourceResult> {
  const { sync, resource, lease, counters } = task
  const error = await reasonBehind(sync.engine, lease, thrown)
    .then(reason => refusalOf(task, reason))
    .catch(() => thrown)
  const state = stateOf(error, sync)
  const note = messageOf(error)
  return report(task, state, error).catch(() => ({
    ...counters,
    note,
    resource: resource.name,
    state,
    error,
  }))
}

/** Writes nothing about the resource without its lease: the holder records its state. */
function notOurs(sync: SyncContext, resource: Resource, error: unknown): ResourceResult {
  const note = messageOf(error)
  sync.emit({ resource: resource.name, state: 'failed', note })
  return { ...noFigures, note, resource: resource.name, state: stateOf(error, sync), error }
}

/** Returns the result at once when another process holds the lease. */
export async function lockTask(sync: SyncContext, resource: Resource): Promise<LockedTask | ResourceResult> {
  let task: ResourceTask
  try {
    task = await openTask(sync, resource)
  } catch (error) {
    return notOurs(sync, resource, error)
  }
  const endRenewing = keepRenewing(sync.engine, task.lease)
  return {
    task,
    async end(failure) {
      try {
        if (failure) return await reportFailure(task, failure.error)
        return await report(task, 'done').catch(error => reportFailure(task, error))
      } finally {
        await endRenewing()
        // A lease that cannot be released is free as soon as this process has ended.
        await releaseLease(sync.engine, task.lease).catch(() => undefined)
      }
    },
  }
}

export async function runTask(
  sync: SyncContext,
  resource: Resource,
  work: (task: ResourceTask) => Promise<void>,
): Promise<ResourceResult> {
  const locked = await lockTask(sync, resource)
  if (!('task' in locked)) return locked
  try {
    await work(locked.task)
  } catch (error) {
    return locked.end({ error })
  }
  return locked.end()
}

export async function notForThisKey(sync: SyncContext, resource: Resource): Promise<ResourceResult> {
  const { kind } = sync.key
  const note = cannotRead(resource, kind)
  if (resource.keys[kind] === 'not at all')
    await recordAccess(sync.engine, {
      resource: resource.name,
      key_kind: kind,
      way: 'not at all',
      state: 'not for this kind of key',
      reason: note,
      checked_at: now(sync),
    })
  sync.emit({ resource: resource.name, state: 'skipped', note })
  return { ...noFigures, note, resource: resource.name, state: 'skipped' }
}
