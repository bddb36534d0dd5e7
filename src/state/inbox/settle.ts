/** Open events: which wait for their record to be read, and which a later read has answered. */

import { catalogue, findResource } from '../../contract/catalogue.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { ledger } from '../ledger.ts'

export interface Waiting {
  /** Names of resources whose list is to be scanned, now that it has been read whole once. */
  readonly lists: readonly string[]
  /** Names of resources with records to be read by id. */
  readonly byId: readonly string[]
  /** Records to be read by id. */
  readonly records: number
  /** Events that wait for any of these. */
  readonly events: number
  /** Arrival of the oldest of them, ISO 8601; null when none waits. */
  readonly oldest: string | null
}

interface Group {
  readonly entity: string
  readonly events: string | number
  readonly records: string | number
  readonly oldest: string
}

const hasList = new Map(catalogue.map(({ entity, read }) => [entity, read.strategy !== 'byId']))

export async function waitingEvents(engine: Engine): Promise<Waiting> {
  const groups = await engine.rows<Group>(
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

/** Any run that scanned the list to its end answers, whichever process began it. */
const byScans = `select e.entity, 'listed' as result, max(r.started_at) as since
  from ops.run_resource rr join ops.run r on r.run_id = rr.run_id
    join (values ${entityOf}) as e(name, entity) on e.name = rr.resource
  where r.command in ('sync', 'serve') and r.started_at >= cast($2 as timestamptz) and rr.state = 'done'
    and e.entity in (${listedEntities})
  group by e.entity`

/** A refusal may pass: an event that comes later than this asks again. */
const refusalHolds = `interval '1 hour'`

/**
 * Resources that the key may not read are not asked for again with every event. The kind of a key does not change, and
 * a list that this key never read is left to the next sync, which reads it whole if it may.
 */
const byAccess = `select e.entity, 'refused' as result,
    case when a.state in ('refused', 'no longer readable') and (e.entity not in (${listedEntities})
        or exists (select 1 from ops.watermark w where w.resource = a.resource and w.watermark is not null))
      then a.checked_at + ${refusalHolds} else cast('9999-01-01T00:00:00Z' as timestamptz) end as since
  from ops.key_access a join (values ${entityOf}) as e(name, entity) on e.name = a.resource
  where a.state <> 'readable' and not exists (
    select 1 from ops.key_access o where o.resource = a.resource and o.state = 'readable')`

/** A signal that came while the record was being fetched is still there afterwards. */
const byReads = `select e.entity, o.record_id, o.state, o.checked_at
  from ops.discovered o join (values ${entityOf}) as e(name, entity) on e.name = o.resource
  where o.checked_at >= cast($2 as timestamptz) and o.signals = 0`

/** Closes the events whose record or list was read after they came; returns what still waits. `at` is ISO 8601. */
export async function settle(engine: Engine, at: string): Promise<Waiting> {
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

/** Deletes events of which nothing was left to do before this time, as ISO 8601, and returns how many; star keeps them. */
export async function expireInbox(engine: Engine, before: string): Promise<number> {
  return engine.run(
    `delete from ops.inbox where coalesce(settled_at, drained_at) < cast($1 as timestamptz) and state <> 'signalled'`,
    [before],
  )
}
