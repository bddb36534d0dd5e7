/** The key as its last runs saw it: what it may read, what it has spent, and when it may call again. */

import type { Engine } from '../../warehouse/engine.ts'
import { existingTables } from '../existing-tables.ts'
import { ledger } from '../ledger.ts'
import { type AccessRow, type ApiUsageRow, requestTables } from './tables.ts'

/** Whether a warehouse has all tables of requests: not before its first sync, nor as an earlier version left it. */
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
 * Undefined for a resource that no run with this kind of key has asked for: each kind may read something else. A run that died
 * has not recorded it: pages that it loaded tell that the resource was readable, where no kind of key is on record.
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

/** The limit of requests a minute that the service last gave for this key. */
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

/** Requests by the second in which they were sent (epoch seconds), so that the next process keeps to the same minute. */
export async function recordSent(engine: Engine, bySecond: ReadonlyMap<number, number>): Promise<void> {
  // In one order, so that two processes that write the same seconds do not deadlock.
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

/** The last two minutes are all that the next process needs to keep to the same rolling minute. */
export async function forgetSent(engine: Engine, now: number): Promise<void> {
  const oldest = Math.floor(now / 1000) - 120
  await ledger(engine).deleteFrom('ops.sent').where('second', '<', oldest).execute()
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

/** The requests that were sent from that second on, by the second. */
export async function sentBySecond(engine: Engine, second: number): Promise<Map<number, number>> {
  const rows = await ledger(engine).selectFrom('ops.sent').selectAll().where('second', '>=', second).execute()
  return new Map(rows.map(row => [Number(row.second), Number(row.requests)]))
}

/** How many requests were sent from that second on. */
export async function sentSince(engine: Engine, second: number): Promise<number> {
  const counts = [...(await sentBySecond(engine, second)).values()]
  return counts.reduce((sum, requests) => sum + requests, 0)
}

/** Milliseconds since the epoch; 0 when nothing is known. */
export async function pausedUntil(engine: Engine, keyId: string): Promise<number> {
  const [row] = await ledger(engine)
    .selectFrom('ops.pause')
    .select('paused_until')
    .where('key_id', '=', keyId)
    .execute()
  return row ? Date.parse(row.paused_until) : 0
}

/** A shorter pause never replaces a longer one. */
export async function recordPause(engine: Engine, keyId: string, untilMs: number): Promise<void> {
  if ((await pausedUntil(engine, keyId)) >= untilMs) return
  const until = { paused_until: new Date(untilMs).toISOString() }
  await ledger(engine)
    .insertInto('ops.pause')
    .values({ key_id: keyId, ...until })
    .onConflict(conflict => conflict.column('key_id').doUpdateSet(until))
    .execute()
}

export interface BudgetSeen {
  readonly apiKeyId: string
  readonly perMinute: number | null
  readonly perDay: number | null
  readonly requestsToday: number | null
  /** Of the day of `observedAt`. */
  readonly remainingToday: number | null
  readonly resetsAt: string | null
  /** Null in a published copy, which leaves the usage out. */
  readonly observedAt: string | null
}

const counted = (value: number | null | undefined): number | null => (value == null ? null : Number(value))

/** Undefined when this key has not synced into the warehouse. The id identifies the key without revealing it. */
export async function budgetSeen(engine: Engine, apiKeyId: string): Promise<BudgetSeen | undefined> {
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
