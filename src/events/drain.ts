/** From the inbox to work: events become change signals of records, lists to scan, and evidence of deletions. */
import { catalogue } from '../contract/catalogue.ts'
import { eventRule, eventTypes } from '../contract/events.ts'
import { signal } from '../state/by-id/discovered.ts'
import { recordEvidence } from '../state/evidence/evidence.ts'
import { claimEvents, claimedEvents, copyClaimedToStar, type Drain } from '../state/inbox/drain.ts'
import type { Engine } from '../warehouse/engine.ts'

/** Events of one transaction. They are in memory at once; other processes drain the rest meanwhile. */
const mostAtOnce = 5000

const resourceOf: ReadonlyMap<string, { readonly name: string; readonly isReadById: boolean }> = new Map(
  catalogue.map(({ entity, name, read }) => [entity, { name, isReadById: read.strategy === 'byId' }]),
)

const entitiesReadById = [...resourceOf].flatMap(([entity, { isReadById }]) => (isReadById ? [entity] : []))

const deletingTypes = eventTypes.filter(type => eventRule(type).deletes)

/** A list does not show deleted records: such an event asks for no read, it is evidence of a deletion and no more. */
const finishedTypes = deletingTypes.filter(
  type => resourceOf.get(eventRule(type).entity)?.isReadById === false,
)

/** Writes the change signals and the evidence of the claimed events. */
async function passOn(connection: Engine, drain: Drain): Promise<void> {
  const claimed = await claimedEvents(connection, drain, { entities: entitiesReadById, types: deletingTypes })
  const known = claimed.flatMap(event => {
    const resource = resourceOf.get(event.entity)
    return resource ? [{ event, resource }] : []
  })
  await signal(
    connection,
    known
      .filter(({ resource }) => resource.isReadById)
      .map(({ event, resource }) => ({
        resource: resource.name,
        recordId: event.record_id,
        source: `event ${event.type}`,
        at: event.received_at,
      })),
  )
  await recordEvidence(
    connection,
    known
      .filter(({ event }) => deletingTypes.some(type => type === event.type))
      .map(({ event, resource }) => ({
        resource: resource.name,
        record_id: event.record_id,
        kind: 'event',
        source: event.event_id,
        seen_at: event.received_at,
      })),
  )
}

/** Drains until the inbox is empty, one transaction for at most `mostAtOnce` events; returns how many it drained. */
export async function drainInbox(engine: Engine, { id, at }: Drain): Promise<number> {
  for (let sum = 0, part = 1; ; part += 1) {
    const drain = { id: `${id}.${part}`, at }
    const claimed = await engine.transaction(async connection => {
      const count = await claimEvents(connection, drain, { limit: mostAtOnce, finishedTypes })
      if (count === 0) return 0
      await passOn(connection, drain)
      await copyClaimedToStar(connection, drain)
      return count
    })
    sum += claimed
    if (claimed < mostAtOnce) return sum
  }
}
