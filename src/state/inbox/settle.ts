/** Settles open events whose record was read later, and counts those that still wait. */

import { catalogue, findResource } from '../../contract/catalogue.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { ledger } from '../ledger.ts'

export interface WaitingEvents {
  /** Resources whose list must be scanned; their backfill is complete. */
  readonly lists: readonly string[]
  /** Resources with records to read by id. */
  readonly byId: readonly string[]
  /** Number of records to read by id. */
  readonly records: number
  /** Events that wait for any of these reads. */
  readonly events: number
  /** Arrival of the oldest of them, ISO 8601; null when none waits. */
  readonly oldest: string | null
}

interface WaitingGroup {
  readonly entity: string
  readonly events: string | number
  readonly records: string | number
  readonly oldest: string
}

const hasList = new Map(catalogue.map(({ entity, read }) => [entity, read.strategy !== 'byId']))

export async function waitingEvents(engine: Engine): Promise<WaitingEvents> {
  const groups = await engine.rows<WaitingGroup>(
    `select entity, count(*) as events, count(distinct record_id) as records, min(received_at) as oldest
     from ops.inbox where state = 'signalled' group by entity`,
  )
  const readOnce = await ledger(engine)
    .selectFrom('ops.watermark')
    .select('resource')
    .where('watermark', 'is not', null)
    .execute()
  const listed = groups.filter(({ entity }) => hasList.get(entity))
  const byId = groups.filter(({ entity }) => !hasList.get(entity))
  return {
    lists: readOnce
      .map(({ resource }) => resource)
      .filter(name => listed.some(({ entity }) => entity === findResource(name)?.entity)),
    byId: catalogue
      .filter(({ entity }) => byId.some(group => group.entity === entity))
      .map(({ name }) => name),
    records: byId.reduce((sum, { records }) => sum + Number(records), 0),
    events: groups.reduce((sum, { events }) => sum + Number(events), 0),
    oldest: groups.map(({ oldest }) => oldest).sort()[0] ?? null,
  }
}

const entityOf = catalogue.map(({ name, entity }) => `(${quoteText(name)}, ${quoteText(entity)})`).join(', ')

const listedEntities = [...hasList.keys()]
  .filter(entity => hasList.get(entity))
  .map(quoteText)
  .join(', ')

/** Any run that scanned the list to its end settles its events, whichever process started the run. */
const byScans = `select e.entity, 'listed' as result, max(r.started_at) as since
  from ops.run_resource rr join ops.run r on r.run_id = rr.run_id
    join (values ${entityOf}) as e(name, entity) on e.name = rr.resource
  where r.command in ('sync', 'serve') and r.started_at >= cast($2 as timestamptz) and rr.state = 'done'
    and e.entity in (${listedEntities})
  group by e.entity`

/** A refusal may be temporary: an event that arrives later than this asks again. */
const refusalHolds = `interval '1 hour'`

/**
 * Does not ask again with every event for resources that the key may not read. The kind of a key does not change, and
 * a list that this key never read is left to the next sync, which reads all of it if allowed.
 */
const byAccess = `select e.entity, 'refused' as result,
    case when a.state in ('refused', 'no longer readable') and (e.entity not in (${listedEntities})
        or exists (select 1 from ops.watermark w where w.resource = a.resource and w.watermark is not null))
      then a.checked_at + ${refusalHolds} else cast('9999-01-01T00:00:00Z' as timestamptz) end as since
  from ops.key_access a join (values ${entityOf}) as e(name, entity) on e.name = a.resource
  where a.state <> 'readable' and not exists (
    select 1 from ops.key_access o where o.resource = a.resource and o.state = 'readable')`

/** A signal that arrived during the fetch of the record stays open. */
const byReads = `select e.entity, o.record_id, o.state, o.checked_at
  from ops.discovered o join (values ${entityOf}) as e(name, entity) on e.name = o.resource
  where o.checked_at >= cast($2 as timestamptz) and o.signals = 0`

/** Closes events whose record or list was read after they arrived; returns the waiting ones. `at` is ISO 8601. */
export async function settle(engine: Engine, at: string): Promise<WaitingEvents> {
  const waiting = await waitingEvents(engine)
  if (waiting.oldest === null) return waiting
  const settled = await settleSince(engine, waiting.oldest, at)
  return settled > 0 ? waitingEvents(engine) : waiting
}

async function settleSince(engine: Engine, oldest: string, at: string): Promise<number> {
  return engine.transaction(async connection => {
    const together = await connection.run(
      `update ops.inbox set state = 'done', settled_at = cast($1 as timestamptz), result = l.result
       from (${byScans} union all ${byAccess}) l
       where inbox.state = 'signalled' and l.entity = inbox.entity and l.since >= inbox.received_at`,
      [at, oldest],
    )
    const single = await connection.run(
      `update ops.inbox set state = 'done', settled_at = cast($1 as timestamptz),
         result = case d.state when 'stored' then 'read' when 'missing' then 'not found' else 'refused' end
       from (${byReads}) d
       where inbox.state = 'signalled' and d.entity = inbox.entity and d.record_id = inbox.record_id
         and d.checked_at >= inbox.received_at`,
      [at, oldest],
    )
    if (together + single > 0) await copySettledToStar(connection, at)
    return together + single
  })
}

async function copySettledToStar(connection: Engine, at: string): Promise<void> {
  await connection.run(
    `update star.fact_webhook_event set state = i.state, fetch_result = i.result, fetched_at = i.settled_at,
       loaded_at = i.settled_at
     from ops.inbox i where i.event_id = fact_webhook_event.event_id and i.settled_at = cast($1 as timestamptz)
       and fact_webhook_event.state = 'signalled'`,
    [at],
  )
}

/** Deletes events settled before this time (ISO 8601) and returns their number; star keeps them. */
export async function expireInbox(engine: Engine, before: string): Promise<number> {
  return engine.run(
    `delete from ops.inbox where coalesce(settled_at, drained_at) < cast($1 as timestamptz) and state <> 'signalled'`,
    [before],
  )
}
