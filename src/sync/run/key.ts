/** The key of a run: its id, what it can see, and its own row. */
import { createHash } from 'node:crypto'
import { readKey } from '../../api/client/key.ts'
import { scopeIdOf } from '../../state/evidence/key-scopes.ts'
import { freshScan, openScan } from '../../state/scans/scans.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { now, type ResourceTask } from './context.ts'

/** A name for the key that does not give the key away: 64 bits of its SHA-256. */
export function apiKeyId(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex').slice(0, 16)
}

export const currentScope = ({ sync }: Pick<ResourceTask, 'sync'>): string =>
  scopeIdOf(sync.apiKeyId, sync.key)

/** Asks `/me` again whether the key can still see the same: it may have lost a company since the run began. */
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
    greatest_total: 1,
    last_total: 1,
    expected_ids: 1,
    distinct_ids: 1,
    run_id: sync.runId,
    started_at: now(sync),
    accepted_at: now(sync),
  })
  await openScan(engine, row)
}

/** Loads the row of the key from the answer that the client has asked for anyway. */
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
    ledger: engine => recordReading(engine, task, scanId),
  })
  await task.pipeline.drained()
}
