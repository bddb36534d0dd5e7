/** What the key may read, as the service last answered; and how much of its budget is used. */

import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import type { AccessRow, ApiUsageRow } from './tables.ts'

export async function recordAccess(engine: Engine, row: AccessRow): Promise<void> {
  const { resource, ...found } = row
  await ledger(engine)
    .insertInto('ops.access')
    .values(row)
    .onConflict(conflict => conflict.column('resource').doUpdateSet(found))
    .execute()
}

export async function recordUsage(engine: Engine, row: ApiUsageRow): Promise<void> {
  await ledger(engine).insertInto('ops.api_usage').values(row).execute()
}

/** Requests a minute that this key was last told it may send. */
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

/** Requests by the second they went out in (epoch seconds), so that the next process keeps to the same minute. */
export async function recordSent(engine: Engine, bySecond: ReadonlyMap<number, number>): Promise<void> {
  // In one order, so that two processes that write the same seconds wait for each other rather than for ever.
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

/** The same beside what others wrote of the same seconds. */
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

/** How many requests went out after that second. */
export async function sentSince(engine: Engine, second: number): Promise<number> {
  const rows = await ledger(engine)
    .selectFrom('ops.sent')
    .select('requests')
    .where('second', '>=', second)
    .execute()
  return rows.reduce((sum, row) => sum + Number(row.requests), 0)
}
