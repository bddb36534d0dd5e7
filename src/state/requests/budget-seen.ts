/** The key's limits and the day's rest, as the last run was told them. */

import type { Engine } from '../../warehouse/engine.ts'
import { existingTables } from '../existing-tables.ts'
import { ledger } from '../ledger.ts'

export interface BudgetSeen {
  readonly apiKeyId: string
  readonly perMinute: number | null
  readonly perDay: number | null
  readonly requestsToday: number | null
  /** Of the day of `observedAt`. */
  readonly remainingToday: number | null
  readonly resetsAt: string | null
  /** Null when the file does not keep the day's use. */
  readonly observedAt: string | null
}

const counted = (value: number | null | undefined): number | null => (value == null ? null : Number(value))

/** Undefined when no key has synced into this file. The id names the key without giving it away. */
export async function budgetSeen(engine: Engine, apiKeyId: string): Promise<BudgetSeen | undefined> {
  const held = await existingTables(engine)
  if (!held.has('run')) return undefined
  const [usage] = held.has('api_usage')
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
