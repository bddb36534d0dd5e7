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

/**
 * The last two minutes are all that the next process needs to keep to the same rolling minute. What is ahead of now was
 * written by a clock that was wrong.
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

/** How many requests were sent in the seconds up to this one, itself included. Later ones are mistakes of a clock. */
export async function sentWithin(engine: Engine, seconds: number, now: number): Promise<number> {
  const rows = await ledger(engine)
    .selectFrom('ops.sent')
    .select('requests')
    .where('second', '>', now - seconds)
    .where('second', '<=', now)
    .execute()
  return rows.reduce((sum, { requests }) => sum + Number(requests), 0)
}

/** A pause as the service asked for it. */
export interface Pause {
  /** Milliseconds since the epoch, by the clock of this machine. */
  readonly saidAt: number
  readonly ms: number
}

/** Milliseconds that are left of a pause: no more than was said, and none where it was said later than now. */
export const pauseLeft = ({ saidAt, ms }: Pause, now: number): number =>
  saidAt > now ? 0 : Math.max(0, saidAt + ms - now)

/** Milliseconds; 0 when nothing is known. */
export async function pausedFor(engine: Engine, keyId: string, now: number): Promise<number> {
  const [row] = await ledger(engine).selectFrom('ops.pause').selectAll().where('key_id', '=', keyId).execute()
  return row ? pauseLeft({ saidAt: Date.parse(row.said_at), ms: Number(row.wait_ms) }, now) : 0
}

/** The last one counts, also when it is shorter. */
export async function recordPause(engine: Engine, keyId: string, { saidAt, ms }: Pause): Promise<void> {
  const said = { said_at: new Date(saidAt).toISOString(), wait_ms: Math.ceil(ms) }
  await ledger(engine)
    .insertInto('ops.pause')
    .values({ key_id: keyId, ...said })
    .onConflict(conflict => conflict.column('key_id').doUpdateSet(said))
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
