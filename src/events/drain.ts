/** From the inbox to work: events become change signals of records, lists to scan, and evidence of deletions. */
import { catalogue } from '../contract/catalogue.ts'
import { eventRule, eventTypes } from '../contract/events.ts'
import type { Resource } from '../contract/fields/resource.ts'
import { type Seen, signal } from '../state/by-id/discovered.ts'
import { type Evidence, recordEvidence } from '../state/evidence/evidence.ts'
import {
  type ClaimedEvent,
  claimEvents,
  claimedEvents,
  copyClaimedToStar,
  type Drain,
} from '../state/inbox/drain.ts'
import type { Engine } from '../warehouse/engine.ts'

/** Events of one transaction. They are in memory at once; other processes drain the rest meanwhile. */
const mostAtOnce = 5000

const readById = catalogue.filter(({ read }) => read.strategy === 'byId')

/** Of lists nothing is signalled: the next scan of changes reads what an event is about. */
const entitiesReadById = readById.map(({ entity }) => entity)

const isReadById = (entity: string): boolean => entitiesReadById.includes(entity)

const deletingTypes = eventTypes.filter(type => eventRule(type).deletes)

/** A list does not show deleted records: such an event asks for no read, it is evidence of a deletion and no more. */
export const finishedTypes = deletingTypes.filter(type => !isReadById(eventRule(type).entity))

/** Every entity of an event is one of the catalogue. */
const nameOf = (entity: string): string =>
  (catalogue.find(resource => resource.entity === entity) as Resource).name

interface Work {
  readonly signals: readonly Seen[]
  readonly evidence: readonly Evidence[]
}

/** What is to be done about events: a record is read again, or a deletion has evidence, or both. */
export function workOf(events: readonly ClaimedEvent[]): Work {
  return {
    signals: events
      .filter(({ entity }) => isReadById(entity))
      .map(({ entity, record_id, type, received_at }) => ({
        resource: nameOf(entity),
        recordId: record_id,
        source: `event ${type}`,
        at: received_at,
      })),
    evidence: events
      .filter(({ type }) => deletingTypes.some(one => one === type))
      .map(({ entity, record_id, event_id, received_at }) => ({
        resource: nameOf(entity),
        record_id,
        kind: 'event',
        source: event_id,
        seen_at: received_at,
      })),
  }
}

/** Writes the change signals and the evidence of the claimed events. */
async function passOn(connection: Engine, drain: Drain): Promise<void> {
  const claimed = await claimedEvents(connection, drain, { entities: entitiesReadById, types: deletingTypes })
  const { signals, evidence } = workOf(claimed)
  await signal(connection, signals)
  await recordEvidence(connection, evidence)
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
