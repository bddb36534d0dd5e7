/** Drains the inbox: turns events into change signals, lists to scan, and evidence of deletions. */
import { catalogue } from '../contract/catalogue.ts'
import { eventRule, eventTypes } from '../contract/events.ts'
import type { Resource } from '../contract/fields/resource.ts'
import { type DiscoveredId, signal } from '../state/by-id/discovered.ts'
import { type EvidenceEntry, recordEvidence } from '../state/evidence/evidence.ts'
import {
  type ClaimedEvent,
  claimEvents,
  claimedEvents,
  copyClaimedToStar,
  type Drain,
} from '../state/inbox/drain.ts'
import type { Engine } from '../warehouse/engine.ts'

/** Events per transaction, all in memory; other processes can drain the rest meanwhile. */
const maxAtOnce = 5000

const readById = catalogue.filter(({ read }) => read.strategy === 'byId')

/** Only these get change signals: for lists, the next scan of changes reads the record anyway. */
const entitiesReadById = readById.map(({ entity }) => entity)

const isReadById = (entity: string): boolean => entitiesReadById.includes(entity)

const deletingTypes = eventTypes.filter(type => eventRule(type).deletes)

/** Events of deletions in lists: no read can show the record, so they are only evidence. */
export const finishedTypes = deletingTypes.filter(type => !isReadById(eventRule(type).entity))

/** Every entity of an event is in the catalogue. */
const nameOf = (entity: string): string =>
  (catalogue.find(resource => resource.entity === entity) as Resource).name

interface DrainWork {
  readonly signals: readonly DiscoveredId[]
  readonly evidence: readonly EvidenceEntry[]
}

/** The work that events ask for: reading a record again, recording evidence of a deletion, or both. */
export function workOf(events: readonly ClaimedEvent[]): DrainWork {
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

/** Drains until the inbox is empty, one transaction for at most `maxAtOnce` events; returns how many it drained. */
export async function drainInbox(engine: Engine, { id, at }: Drain): Promise<number> {
  for (let sum = 0, part = 1; ; part += 1) {
    const drain = { id: `${id}.${part}`, at }
    const claimed = await engine.transaction(async connection => {
      const count = await claimEvents(connection, drain, { limit: maxAtOnce, finishedTypes })
      if (count === 0) return 0
      await passOn(connection, drain)
      await copyClaimedToStar(connection, drain)
      return count
    })
    sum += claimed
    if (claimed < maxAtOnce) return sum
  }
}
