/** Stores what the key may read, what it has spent, and when it may call again. */

import type { Engine } from '../../warehouse/engine.ts'
import { existingTables } from '../existing-tables.ts'
import { ledger } from '../ledger.ts'
import { type AccessRow, type ApiUsageRow, requestTables } from './tables.ts'

/** Whether a warehouse has all tables of requests; false before the first sync or after an earlier version. */
export async function keepsRequests(engine: Engine): Promise<boolean> {
  const existing: ReadonlySet<string> = await existingTables(engine)
  return Object.keys(requestTables).every(name => existing.has(name))
}

export async function recordAccess(engine: Engine, row: AccessRow): Promise<void> {
  const { resource: _, key_kind: __, ...found } = row
  await ledger(engine)
    .insertInto('ops.key_access')
    .values(row)
    .onConflict(conflict => conflict.columns(['resource', 'key_kind']).doUpdateSet(found))
    .execute()
}

/**
 * Undefined for a resource that no run with this kind of key has requested: kinds may read different resources. A run that
 * died did not record its access; if no kind is recorded, its loaded pages show that the resource was readable.
 */
export async function accessState(
  engine: Engine,
  { resource, key_kind }: Pick<AccessRow, 'resource' | 'key_kind'>,
): Promise<AccessRow['state'] | undefined> {
  const rows = await ledger(engine)
    .selectFrom('ops.key_access')
    .select(['key_kind', 'state'])
    .where('resource', '=', resource)
    .execute()
  if (rows.length > 0) return rows.find(row => row.key_kind === key_kind)?.state
  const loaded = await ledger(engine)
    .selectFrom('ops.scan')
    .select('scan_id')
    .where('resource', '=', resource)
    .where('loaded_sequence', '>', 0)
    .limit(1)
    .execute()
  return loaded.length > 0 ? 'readable' : undefined
}

export async function recordUsage(engine: Engine, row: ApiUsageRow): Promise<void> {
  await ledger(engine).insertInto('ops.api_usage').values(row).execute()
}

/** Limit of requests a minute that the service last reported for this key. */
export async function knownPerMinute(engine: Engine, apiKeyId: string): Promise<number | undefined> {
  const [row] = await ledger(engine)
    .selectFrom('ops.api_usage')
    .select('rate_limit_per_minute')
    .where('api_key_id', '=', apiKeyId)
    .orderBy('observed_at', 'desc')
    .limit(1)
    .execute()
  return row?.rate_limit_per_minute === null ? undefined : row && Number(row.rate_limit_per_minute)
}

/** Stores requests by the epoch second they were sent in, so that the next process continues the same minute. */
export async function recordSent(engine: Engine, bySecond: ReadonlyMap<number, number>): Promise<void> {
  // Sorted, so that two processes that write the same seconds do not deadlock.
  const rows = [...bySecond].map(([second, requests]) => ({ second, requests }))
  if (rows.length === 0) return
  await ledger(engine)
    .insertInto('ops.sent')
    .values(rows.sort((left, right) => left.second - right.second))
    .onConflict(conflict =>
      conflict.column('second').doUpdateSet({ requests: eb => eb.ref('excluded.requests') }),
    )
    .execute()
}

/**
 * Keeps the last two minutes, which are all that the next process needs for the rolling minute. Drops seconds in the future,
 * which come from a wrong clock.
 */
export async function forgetSent(engine: Engine, now: number): Promise<void> {
  const second = Math.floor(now / 1000)
  await ledger(engine)
    .deleteFrom('ops.sent')
    .where(({ eb, or }) => or([eb('second', '<', second - 120), eb('second', '>', second)]))
    .execute()
}

/** Adds to the counts that other processes wrote for the same seconds. */
export async function addSent(engine: Engine, bySecond: ReadonlyMap<number, number>): Promise<void> {
  const seconds = [...bySecond.keys()]
  if (seconds.length === 0) return
  const rows = await ledger(engine)
    .selectFrom('ops.sent')
    .selectAll()
    .where('second', 'in', seconds)
    .execute()
  const before = new Map(rows.map(row => [Number(row.second), Number(row.requests)]))
  const sums = [...bySecond].map(([second, count]) => [second, count + (before.get(second) ?? 0)] as const)
  await recordSent(engine, new Map(sums))
}

/** Requests sent in the given number of seconds up to and including now. Later ones come from a wrong clock. */
export async function sentWithin(engine: Engine, seconds: number, now: number): Promise<number> {
  const rows = await ledger(engine)
    .selectFrom('ops.sent')
    .select('requests')
    .where('second', '>', now - seconds)
    .where('second', '<=', now)
    .execute()
  return rows.reduce((sum, { requests }) => sum + Number(requests), 0)
}

/** A retry-after as the service sent it. */
export interface RetryAfter {
  /** Milliseconds since the epoch, by the clock of this machine. */
  readonly saidAt: number
  readonly ms: number
}

/** Milliseconds left: at most the requested wait, and 0 if it was requested in the future, by a wrong clock. */
export const pauseLeft = ({ saidAt, ms }: RetryAfter, now: number): number =>
  saidAt > now ? 0 : Math.max(0, saidAt + ms - now)

/** Milliseconds until requests may be sent again; 0 if none is recorded. */
export async function pausedFor(engine: Engine, keyId: string, now: number): Promise<number> {
  const [row] = await ledger(engine)
    .selectFrom('ops.retry_after')
    .selectAll()
    .where('key_id', '=', keyId)
    .execute()
  return row ? pauseLeft({ saidAt: Date.parse(row.said_at), ms: Number(row.wait_ms) }, now) : 0
}

/** The latest replaces an earlier one, even if it is shorter. */
export async function recordPause(engine: Engine, keyId: string, { saidAt, ms }: RetryAfter): Promise<void> {
  const said = { said_at: new Date(saidAt).toISOString(), wait_ms: Math.ceil(ms) }
  await ledger(engine)
    .insertInto('ops.retry_after')
    .values({ key_id: keyId, ...said })
    .onConflict(conflict => conflict.column('key_id').doUpdateSet(said))
    .execute()
}

export interface ReportedBudget {
  readonly apiKeyId: string
  readonly perMinute: number | null
  readonly perDay: number | null
  readonly requestsToday: number | null
  /** For the day of `observedAt`. */
  readonly remainingToday: number | null
  readonly resetsAt: string | null
  /** Null in a published copy, which has no usage. */
  readonly observedAt: string | null
}

const counted = (value: number | null | undefined): number | null => (value == null ? null : Number(value))

/** Undefined if this key has never synced into the warehouse. The id identifies the key without revealing it. */
export async function budgetSeen(engine: Engine, apiKeyId: string): Promise<ReportedBudget | undefined> {
  const tables = await existingTables(engine)
  if (!tables.has('run')) return undefined
  const [usage] = tables.has('api_usage')
    ? await ledger(engine)
        .selectFrom('ops.api_usage')
        .selectAll()
        .where('api_key_id', '=', apiKeyId)
        .orderBy('observed_at', 'desc')
        .limit(1)
        .execute()
    : []
  const [limits] = await engine.rows<{ minute: number | null; day: number | null }>(
    `select rate_limit_per_minute as minute, rate_limit_per_day as day from star.dim_api_key
     where api_key_id = $1`,
    [apiKeyId],
  )
  if (!usage && !limits) return undefined
  return {
    apiKeyId,
    perMinute: counted(usage?.rate_limit_per_minute ?? limits?.minute),
    perDay: counted(usage?.rate_limit_per_day ?? limits?.day),
    requestsToday: usage?.requests_today ?? null,
    remainingToday: usage?.remaining_today ?? null,
    resetsAt: usage?.resets_at ?? null,
    observedAt: usage?.observed_at ?? null,
  }
}
