/** Handles the key of a run: its id, its scope, and its own row. */
import { createHash } from 'node:crypto'
import { type KeyInfo, readKey } from '../../api/client/key.ts'
import { recordKeyScope, scopeIdOf } from '../../state/evidence/key-scopes.ts'
import { recordUsage } from '../../state/requests/key-state.ts'
import { updateRun } from '../../state/runs/runs.ts'
import { freshScan, openScan } from '../../state/scans/scans.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { now, type ResourceTask, type SyncContext } from './context.ts'

/** An id for the key that does not reveal it: 64 bits of its SHA-256. */
export function apiKeyId(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex').slice(0, 16)
}

export const currentScope = ({ sync }: Pick<ResourceTask, 'sync'>): string =>
  scopeIdOf(sync.apiKeyId, sync.key)

/** Requests `/me` again to check that the scope is the same: the key may have lost a company since the run began. */
export async function isStillScope({ sync, counters }: ResourceTask, scopeId: string): Promise<boolean> {
  const { record, bytes } = await sync.client.getRecord('/me', {}, { purpose: 'reconcile' })
  counters.requests += 1
  return scopeIdOf(sync.apiKeyId, readKey(record, bytes)) === scopeId
}

async function recordReading(
  engine: Engine,
  { sync, resource }: ResourceTask,
  scanId: string,
): Promise<void> {
  const row = freshScan({
    scan_id: scanId,
    resource: resource.name,
    kind: 'snapshot',
    scope: 'key',
    state: 'accepted',
    next_page: 0,
    loaded_sequence: 1,
    pages: 1,
    first_total: 1,
    last_total: 1,
    expected_ids: 1,
    distinct_ids: 1,
    run_id: sync.runId,
    started_at: now(sync),
    accepted_at: now(sync),
  })
  await openScan(engine, row)
}

/** Loads the key's row from a response that the client has requested anyway. */
export async function loadKey(task: ResourceTask): Promise<void> {
  const { sync, resource } = task
  const scanId = `${sync.runId}-${resource.name}`
  const scope = { api_key_id: sync.apiKeyId }
  await sync.landing.begin(scanId, { resource: resource.name, scope })
  const { bytes } = sync.key
  const page = await sync.landing.land(scanId, {
    sequence: 1,
    page: 1,
    fetchedAt: now(sync),
    runId: sync.runId,
    bytes,
  })
  await task.pipeline.load({
    pages: [page],
    rows: 'data as one record',
    scope: () => scope,
    writeScan: engine => recordReading(engine, task, scanId),
  })
  await task.pipeline.drained()
}

/**
 * Writes the limits at once, whatever the run reads and however it ends: the next run observes them when it requests
 * `/me`. `begunAt` is the start of the run, on its clock's `elapsed`.
 */
export async function recordLimits(
  { sync, begunAt }: { readonly sync: Omit<SyncContext, 'key'>; readonly begunAt: number },
  key: KeyInfo,
): Promise<void> {
  const { runId, apiKeyId: id, clock } = sync
  const observedAt = now(sync)
  const startedAt = new Date(clock.now() - clock.elapsed() + begunAt).toISOString()
  await sync.engine.transaction(async engine => {
    // The service's clock orders runs, and is known only now.
    if (clock.aheadMs !== undefined) await updateRun(engine, runId, { started_at: startedAt })
    await recordKeyScope(engine, { runId, apiKeyId: id, sight: key, observedAt })
    await recordUsage(engine, {
      run_id: runId,
      api_key_id: id,
      rate_limit_per_minute: key.isAssumed?.perMinute ? null : key.rateLimitPerMinute,
      rate_limit_per_day: key.isAssumed?.perDay ? null : key.rateLimitPerDay,
      requests_today: key.usage.requestsToday ?? null,
      remaining_today: key.usage.remainingToday ?? null,
      resets_at: key.usage.resetsAt ?? null,
      last_used_at: key.lastUsedAt ?? null,
      observed_at: observedAt,
    })
  })
}
