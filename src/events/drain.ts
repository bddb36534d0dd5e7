/** From the inbox to what is to be read: events become signals of records, lists to walk and witnesses of deletions. */
import { catalogue } from '../contract/catalogue.ts'
import { type EventEntity, eventRule, eventTypes } from '../contract/events.ts'
import { signal } from '../state/by-id/discovered.ts'
import { witness } from '../state/evidence/deletions.ts'
import type { Engine } from '../warehouse/engine.ts'
import { quoteText } from '../warehouse/sql-text.ts'

export interface Drain {
  /** Names the drain in the rows it took, and no other drain. */
  readonly id: string
  /** ISO 8601. */
  readonly at: string
}

interface Taken {
  readonly event_id: string
  readonly type: string
  readonly entity: EventEntity
  readonly record_id: string
  readonly received_at: string
}

/** Events of one transaction: they are held in memory, and other processes wait for none of them. */
const mostAtOnce = 5000

const resourceOf: ReadonlyMap<string, { readonly name: string; readonly isReadById: boolean }> = new Map(
  catalogue.map(({ entity, name, read }) => [entity, { name, isReadById: read.strategy === 'byId' }]),
)

const entitiesWhere = (isReadById: boolean): string[] =>
  [...resourceOf].flatMap(([entity, resource]) => (resource.isReadById === isReadById ? [entity] : []))

const list = (texts: readonly string[]): string => texts.map(quoteText).join(', ')

const deleting = eventTypes.filter(type => eventRule(type).deletes)

/** A list does not show what is gone: nothing is to be read for such an event, it is a witness and no more. */
const goneFromLists = deleting.filter(type => entitiesWhere(false).includes(eventRule(type).entity))

/** Entities that are read by walking their list. */
export const walkedEntities: readonly string[] = entitiesWhere(false)

const columns =
  'event_id, type, entity, record_id, created_at, received_at, delivered_count, signature_ok, state, fetch_result, fetched_at, loaded_at'

/**
 * Marks the oldest undrained events as taken by this drain, which nobody else is named for; returns how many. One
 * update a row: a server keeps every version of a row until it is vacuumed.
 */
async function claim(engine: Engine, { id, at }: Drain): Promise<number> {
  // Other processes drain the rest meanwhile: what one holds the others pass by.
  const lock = engine.name === 'postgres' ? 'for update skip locked' : ''
  const isGone = `state = 'new' and type in (${list(goneFromLists)})`
  return engine.run(
    `update ops.inbox set drained_by = $1, drained_at = cast($2 as timestamptz),
       state = case when ${isGone} then 'done' when state = 'new' then 'signalled' else state end,
       result = case when ${isGone} then 'witness of a deletion' end,
       settled_at = case when ${isGone} then cast($2 as timestamptz) end
     where event_id in
       (select event_id from ops.inbox where drained_at is null order by received_at limit ${mostAtOnce} ${lock})`,
    [id, at],
  )
}

async function passOn(engine: Engine, { id }: Drain): Promise<void> {
  const taken = await engine.rows<Taken>(
    `select event_id, type, entity, record_id, received_at from ops.inbox
     where drained_by = $1 and state in ('signalled', 'done')
       and (entity in (${list(entitiesWhere(true))}) or type in (${list(deleting)}))`,
    [id],
  )
  const named = taken.flatMap(event => {
    const resource = resourceOf.get(event.entity)
    return resource ? [{ event, resource }] : []
  })
  await signal(
    engine,
    named
      .filter(({ resource }) => resource.isReadById)
      .map(({ event, resource }) => ({
        resource: resource.name,
        recordId: event.record_id,
        source: `event ${event.type}`,
        at: event.received_at,
      })),
  )
  await witness(
    engine,
    named
      .filter(({ event }) => deleting.some(type => type === event.type))
      .map(({ event, resource }) => ({
        resource: resource.name,
        record_id: event.record_id,
        kind: 'event',
        source: event.event_id,
        seen_at: event.received_at,
      })),
  )
}

/** One transaction over the oldest events; returns how many it took. */
async function drainSome(engine: Engine, drain: Drain): Promise<number> {
  return engine.transaction(async engine => {
    const claimed = await claim(engine, drain)
    if (claimed === 0) return 0
    await passOn(engine, drain)
    await engine.run(
      `insert into star.fact_webhook_event (${columns})
       select event_id, type, entity, record_id, created_at, received_at, deliveries, true, state, result,
         settled_at, drained_at from ops.inbox where drained_by = $1`,
      [drain.id],
    )
    return claimed
  })
}

/** Takes what came in until nothing is left; returns how many events that were. */
export async function drainInbox(engine: Engine, { id, at }: Drain): Promise<number> {
  for (let sum = 0, part = 1; ; part += 1) {
    const taken = await drainSome(engine, { id: `${id}.${part}`, at })
    sum += taken
    if (taken < mostAtOnce) return sum
  }
}

/** Deliveries of events that were stored before, so that the warehouse knows how often each came. */
export async function addRepetitions(
  engine: Engine,
  repetitions: ReadonlyMap<string, number>,
): Promise<void> {
  const pairs = [...repetitions].map(([id, count]) => `(${quoteText(id)}, ${count})`)
  for (let from = 0; from < pairs.length; from += 1000) {
    const values = `(values ${pairs.slice(from, from + 1000).join(', ')}) as r(id, n)`
    await engine.transaction(async engine => {
      await engine.run(
        `update ops.inbox set deliveries = inbox.deliveries + r.n from ${values} where r.id = inbox.event_id`,
      )
      await engine.run(
        `update star.fact_webhook_event set delivered_count = fact_webhook_event.delivered_count + r.n
         from ${values} where r.id = fact_webhook_event.event_id`,
      )
    })
  }
}
