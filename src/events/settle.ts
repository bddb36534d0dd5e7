/** What became of events: which wait for their record to be read, and which were answered by a read that came later. */

import { catalogue, findResource } from '../contract/catalogue.ts'
import { ledger } from '../state/ledger.ts'
import type { Engine } from '../warehouse/engine.ts'
import { quoteText } from '../warehouse/sql-text.ts'
import { walkedEntities } from './drain.ts'

export interface Waiting {
  /** Names of resources whose list is to be walked, now that it has been read whole once. */
  readonly lists: readonly string[]
  /** Names of resources of which records are to be read by their id. */
  readonly byId: readonly string[]
  /** Records to be read by their id. */
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

export async function waitingEvents(engine: Engine): Promise<Waiting> {
  const groups = await engine.rows<Group>(
    `select entity, count(*) as events, count(distinct record_id) as records, min(received_at) as oldest
     from ops.inbox where state = 'signalled' group by entity`,
  )
  const marks = await ledger(engine)
    .selectFrom('ops.watermark')
    .select('resource')
    .where('mark', 'is not', null)
    .execute()
  const walked = groups.filter(({ entity }) => walkedEntities.includes(entity))
  const read = groups.filter(({ entity }) => !walkedEntities.includes(entity))
  return {
    lists: marks
      .map(({ resource }) => resource)
      .filter(name => walked.some(({ entity }) => entity === findResource(name)?.entity)),
    byId: catalogue
      .filter(({ entity }) => read.some(group => group.entity === entity))
      .map(({ name }) => name),
    records: read.reduce((sum, { records }) => sum + Number(records), 0),
    events: groups.reduce((sum, { events }) => sum + Number(events), 0),
    oldest: groups.map(({ oldest }) => oldest).sort()[0] ?? null,
  }
}

const entityOf = catalogue.map(({ name, entity }) => `(${quoteText(name)}, ${quoteText(entity)})`).join(', ')

/** Any run that walked the list to its end answers, whoever began it. */
const byWalks = `select e.entity, 'listed' as result, max(r.started_at) as since
  from ops.run_resource rr join ops.run r on r.run_id = rr.run_id
    join (values ${entityOf}) as e(name, entity) on e.name = rr.resource
  where r.command in ('sync', 'serve') and r.started_at >= cast($2 as timestamptz) and rr.state = 'done'
    and e.entity in (${walkedEntities.map(quoteText).join(', ')})
  group by e.entity`

/** A refusal may be a spell: what comes later than this asks again. */
const refusalHolds = `interval '1 hour'`

/**
 * What the key may not read at all is not asked for at every event. Its kind does not change while it is used, and a list
 * that it never read is asked for by the next sync, which reads it whole if it may.
 */
const byAccess = `select e.entity, 'refused' as result,
    case when a.state = 'refused' and (e.entity not in (${walkedEntities.map(quoteText).join(', ')})
        or exists (select 1 from ops.watermark w where w.resource = a.resource and w.mark is not null))
      then a.checked_at + ${refusalHolds} else cast('9999-01-01T00:00:00Z' as timestamptz) end as since
  from ops.access a join (values ${entityOf}) as e(name, entity) on e.name = a.resource
  where a.state <> 'readable'`

/** A signal that came while the record was being fetched is still there afterwards. */
const byReads = `select e.entity, o.record_id, o.state, o.checked_at
  from ops.discovered o join (values ${entityOf}) as e(name, entity) on e.name = o.resource
  where o.checked_at >= cast($2 as timestamptz) and o.signals = 0`

/** The columns of star that tell of it follow those of the inbox. */
async function tellFacts(engine: Engine, at: string): Promise<void> {
  await engine.run(
    `update star.fact_webhook_event set state = i.state, fetch_result = i.result, fetched_at = i.settled_at,
       loaded_at = i.settled_at
     from ops.inbox i where i.event_id = fact_webhook_event.event_id and i.settled_at = cast($1 as timestamptz)
       and fact_webhook_event.state = 'signalled'`,
    [at],
  )
}

/** Closes the events whose record or list was read after they came; returns what waits then. `at` is ISO 8601. */
export async function settle(engine: Engine, at: string): Promise<Waiting> {
  const waiting = await waitingEvents(engine)
  if (waiting.oldest === null) return waiting
  const settled = await settleSince(engine, waiting.oldest, at)
  return settled > 0 ? waitingEvents(engine) : waiting
}

async function settleSince(engine: Engine, oldest: string, at: string): Promise<number> {
  return engine.transaction(async engine => {
    const together = await engine.run(
      `update ops.inbox set state = 'done', settled_at = cast($1 as timestamptz), result = l.result
       from (${byWalks} union all ${byAccess}) l
       where inbox.state = 'signalled' and l.entity = inbox.entity and l.since >= inbox.received_at`,
      [at, oldest],
    )
    const read = await engine.run(
      `update ops.inbox set state = 'done', settled_at = cast($1 as timestamptz),
         result = case d.state when 'held' then 'read' when 'missing' then 'not found' else 'refused' end
       from (${byReads}) d
       where inbox.state = 'signalled' and d.entity = inbox.entity and d.record_id = inbox.record_id
         and d.checked_at >= inbox.received_at`,
      [at, oldest],
    )
    if (together + read > 0) await tellFacts(engine, at)
    return together + read
  })
}

/** What was settled before this time is forgotten here; star keeps the facts. */
export async function expireInbox(engine: Engine, before: string): Promise<number> {
  return engine.run(
    `delete from ops.inbox where drained_at < cast($1 as timestamptz) and state <> 'signalled'`,
    [before],
  )
}
