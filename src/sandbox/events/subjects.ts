/** Records that events can be about, and where the sandbox holds them. */

import { type EventEntity, type EventType, eventRule, eventTypes } from '../../contract/events.ts'
import type { Rng } from '../../lib/rng.ts'
import { pick, weighted } from '../data/draw.ts'
import type { StoredRecord } from '../records/record.ts'
import type { Collection, World } from '../world.ts'
import { type Concern, concernOf, type Raise } from './concern.ts'

/** Where the records of an entity are kept. */
export const homes: Readonly<Record<EventEntity, Collection>> = {
  timesheet: 'timesheets',
  expense: 'expenses',
  invoice: 'invoices',
  requisition: 'requisitions',
  assignment: 'assignments',
  credit_note: 'creditNotes',
  trade: 'trades',
  rate: 'rates',
  purchase_order: 'purchaseOrders',
}

/** Undefined for a record the sandbox does not hold. */
export function knownConcern(world: World, type: EventType, id: string): Concern | undefined {
  const record = world.get(homes[eventRule(type).entity], id)
  return record && concernOf(type, record)
}

export interface Subject {
  readonly id: string
  readonly entity: EventEntity
  readonly record: StoredRecord
}

/** Something that may happen to a record that exists and goes on existing. */
export function raiseNews(raise: Raise, rng: Rng, { entity, id, record }: Subject): void {
  const isNews = (type: EventType) => {
    const rule = eventRule(type)
    return rule.entity === entity && !rule.deletes && !type.endsWith('_created')
  }
  const type = pick(rng, eventTypes.filter(isNews))
  raise(type, id, concernOf(type, record))
}

/** How often each is the subject of a burst, beside the others': most news is of timesheets. */
const shares: Readonly<Partial<Record<EventEntity, number>>> = { timesheet: 8, expense: 4, assignment: 3 }

/** Up to `count` of them, for bursts. */
export function drawSubjects(world: World, rng: Rng, count: number): readonly Subject[] {
  const held = (Object.keys(homes) as EventEntity[]).filter(entity => world.at(homes[entity], 0))
  const weights = held.map(entity => [entity, shares[entity] ?? 1] as const)
  const draws = Array.from({ length: held.length > 0 ? count : 0 }, () => {
    const entity = weighted(rng, weights)
    const home = homes[entity]
    const record = world.at(home, rng())
    return record && { id: String(record.id), entity, record }
  })
  return draws.filter(subject => subject !== undefined)
}
