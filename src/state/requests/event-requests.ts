/** Counts the requests of a day spent on reads for events, per key, across processes and restarts. */
import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'

interface KeyDay {
  readonly keyId: string
  /** UTC, YYYY-MM-DD. */
  readonly day: string
}

export interface EventRequests {
  readonly spent: number
  /** The limit of a day; undefined until the service has reported it. */
  readonly perDay: number | undefined
}

type FigureValue = string | number | null

export async function eventRequests(engine: Engine, { keyId, day }: KeyDay): Promise<EventRequests> {
  const [row] = await engine.rows<{ spent: FigureValue; per_day: FigureValue }>(
    `select greatest(
         (select sum(requests) from ops.event_requests where key_id = $1 and day = cast($2 as date)),
         (select sum(webhook) from ops.request_budget where key_id = $1 and day = cast($2 as date)), 0) as spent,
       (select rate_limit_per_day from ops.api_usage where api_key_id = $1 and rate_limit_per_day is not null
        order by observed_at desc limit 1) as per_day`,
    [keyId, day],
  )
  const perDay = row?.per_day
  return { spent: Number(row?.spent ?? 0), perDay: perDay == null ? undefined : Number(perDay) }
}

export async function recordEventRequests(
  engine: Engine,
  { keyId, day, requests }: KeyDay & { readonly requests: number },
): Promise<void> {
  await ledger(engine)
    .insertInto('ops.event_requests')
    .values({ key_id: keyId, day, requests })
    .onConflict(conflict => conflict.column('key_id').doUpdateSet({ day, requests }))
    .execute()
}
