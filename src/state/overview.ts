/** Sums up a warehouse for one line: freshness, how its last DAG run ended, and what needs attention. */
import type { Engine } from '../warehouse/engine.ts'
import { existingTables } from './existing-tables.ts'
import { ledger } from './ledger.ts'
import { requireReadable } from './migrations.ts'
import { type FinishedDagRun, lastDagRuns } from './runs/dag-runs.ts'

type OverviewReader = Pick<Engine, 'rows' | 'schema' | 'cacheKey'>

/** Usage of the key that asked last. */
export interface KeySpending {
  readonly apiKeyId: string
  readonly requestsToday: number | null
  readonly remainingToday: number | null
  /** ISO 8601. */
  readonly resetsAt: string | null
}

export interface Overview {
  /** End of the last sync that was done, ISO 8601; null before the first. */
  readonly lastSync: string | null
  /** State of the last sync, and why it is not done if it is not. */
  readonly sync: { readonly state: string; readonly message: string | null } | null
  readonly dagRuns: readonly FinishedDagRun[]
  /** Resources whose last sync failed or did not finish. */
  readonly behind: readonly string[]
  /** Records that could not be loaded. */
  readonly quarantined: number
  readonly spending: KeySpending | null
}

const numberOf = (value: unknown): number | null => (value == null ? null : Number(value))

async function spendingOf(engine: OverviewReader): Promise<KeySpending | null> {
  const [row] = await ledger(engine)
    .selectFrom('ops.api_usage')
    .select(['api_key_id', 'requests_today', 'remaining_today', 'resets_at'])
    .orderBy('observed_at', 'desc')
    .limit(1)
    .execute()
  if (!row) return null
  return {
    apiKeyId: row.api_key_id,
    requestsToday: numberOf(row.requests_today),
    remainingToday: numberOf(row.remaining_today),
    resetsAt: row.resets_at,
  }
}

const syncs = `select
    (select max(finished_at) from ops.run where command = 'sync' and state = 'done') as "lastSync",
    (select count(*) from ops.quarantine where resolved_at is null) as quarantined,
    r.state, r.message
  from (select 1) as one left join (
    select state, message from ops.run where command = 'sync' order by started_at desc limit 1) as r on true`

const behind = `select resource from (
    select q.resource, q.state, row_number() over (partition by q.resource order by r.started_at desc) as place
    from ops.run_resource as q join ops.run as r on r.run_id = q.run_id where r.command = 'sync') as ranked
  where place = 1 and state in ('failed', 'incomplete', 'stopped') order by resource`

interface Syncs {
  readonly lastSync: string | null
  readonly quarantined: number
  readonly state: string | null
  readonly message: string | null
}

/** Undefined before the first sync and for a published copy. */
export async function readOverview(engine: OverviewReader): Promise<Overview | undefined> {
  const tables = await existingTables(engine)
  if (!(tables.has('migration') && tables.has('run_resource') && tables.has('quarantine'))) return undefined
  await requireReadable(engine)
  const [row] = await engine.rows<Syncs>(syncs)
  return {
    lastSync: row?.lastSync ?? null,
    sync: row?.state ? { state: row.state, message: row.message } : null,
    dagRuns: await lastDagRuns(engine),
    behind: (await engine.rows<{ resource: string }>(behind)).map(({ resource }) => resource),
    quarantined: Number(row?.quarantined ?? 0),
    spending: await spendingOf(engine),
  }
}
