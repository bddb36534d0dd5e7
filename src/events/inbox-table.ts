/** The inbox as a table of a server: every process stores into it and drains from it at the same time. */
import type { Engine } from '../warehouse/engine.ts'
import type { InboxEvent } from './event.ts'

const columns = 'event_id, type, entity, record_id, created_at, received_at, deliveries, state, payload'

/**
 * One statement a group, committed by itself. Gives the ids that were there: what a drain holds is not waited for, as
 * an update would have to.
 */
export async function insertEvents(
  engine: Engine,
  events: readonly InboxEvent[],
): Promise<readonly string[]> {
  const rows = await engine.rows<{ event_id: string }>(
    `insert into ops.inbox (${columns})
     select id, type, entity, "recordId", "createdAt", "receivedAt", 1, state, payload
     from json_to_recordset(cast($1 as json)) as e(id text, type text, entity text, "recordId" text,
       "createdAt" timestamptz, "receivedAt" timestamptz, state text, payload text)
     on conflict (event_id) do nothing returning event_id`,
    [JSON.stringify(events)],
  )
  const stored = new Set(rows.map(row => row.event_id))
  return events.map(({ id }) => id).filter(id => !stored.has(id))
}
