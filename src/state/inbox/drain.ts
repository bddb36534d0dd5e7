/** Claims the oldest events of `ops.inbox` for a drain and copies them to star. */
import type { EventEntity } from '../../contract/events.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { asPlainWord } from '../../warehouse/schema/plain-word.ts'
import { quoteText } from '../../warehouse/sql-text.ts'

export interface Drain {
  /** Marks the rows that the drain claimed; unique per drain. */
  readonly id: string
  /** ISO 8601. */
  readonly at: string
}

export interface ClaimedEvent {
  readonly event_id: string
  readonly type: string
  readonly entity: EventEntity
  readonly record_id: string
  readonly received_at: string
}

const list = (texts: readonly string[]): string => texts.map(quoteText).join(', ')

/**
 * Claims up to `limit` undrained events, oldest first, and returns their number. Events of `finishedTypes` need no read, so
 * they are done at once. Updates each row only once, because a server keeps every version of a row until it is vacuumed.
 * Skips rows that another draining process has locked.
 */
export async function claimEvents(
  connection: Engine,
  { id, at }: Drain,
  { limit, finishedTypes }: { readonly limit: number; readonly finishedTypes: readonly string[] },
): Promise<number> {
  const isFinished = `state = 'new' and type in (${list(finishedTypes)})`
  return connection.run(
    `update ops.inbox set drained_by = $1, drained_at = cast($2 as timestamptz),
       state = case when ${isFinished} then 'done' when state = 'new' then 'signalled' else state end,
       result = case when ${isFinished} then 'evidence of a deletion' end,
       settled_at = case when ${isFinished} then cast($2 as timestamptz) end
     where event_id in
       (select event_id from ops.inbox where drained_at is null order by received_at limit ${limit} ${connection.skipLocked})`,
    [id, at],
  )
}

/** Claimed events about these entities, or of these types. */
export async function claimedEvents(
  connection: Engine,
  { id }: Drain,
  { entities, types }: { readonly entities: readonly string[]; readonly types: readonly string[] },
): Promise<ClaimedEvent[]> {
  return connection.rows<ClaimedEvent>(
    `select event_id, type, entity, record_id, received_at from ops.inbox
     where drained_by = $1 and state in ('signalled', 'done')
       and (entity in (${list(entities)}) or type in (${list(types)}))`,
    [id],
  )
}

/** Skips ids that star has already: an event may arrive again weeks later, when the inbox has deleted it. */
export async function copyClaimedToStar(connection: Engine, { id }: Drain): Promise<void> {
  await connection.run(
    `insert into star.fact_webhook_event (event_id, type, entity, record_id, created_at, received_at, delivered_count,
       signature_ok, state, fetch_result, fetched_at, loaded_at)
     select event_id, ${asPlainWord('type', [])}, entity, record_id, created_at, received_at, deliveries, true, state, result,
       settled_at, drained_at from ops.inbox where drained_by = $1
       and not exists (select 1 from star.fact_webhook_event f where f.event_id = inbox.event_id)`,
    [id],
  )
}
