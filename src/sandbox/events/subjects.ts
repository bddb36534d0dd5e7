/** Records that events can be about, and where the sandbox holds them. */
import { type EventEntity, type EventType, eventRule, eventTypes } from '../../contract/events.ts'
import type { Draw } from '../data/draw.ts'
import type { StoredRecord } from '../records/record.ts'
import type { Collection, World } from '../world.ts'
import { type Audience, audienceOf, type Raise } from './audience.ts'

/** The collection that holds the records of an entity. */
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
export function knownAudience(world: World, type: EventType, id: string): Audience | undefined {
  const record = world.get(homes[eventRule(type).entity], id)
  return record && audienceOf(type, record)
}

export interface Subject {
  readonly id: string
  readonly entity: EventEntity
  readonly record: StoredRecord
}

/** Raises an event that can happen to an existing record and leaves it in existence. */
export function raiseUpdate(raise: Raise, draw: Draw, { entity, id, record }: Subject): void {
  const isUpdate = (type: EventType) => {
    const rule = eventRule(type)
    return rule.entity === entity && !rule.deletes && !type.endsWith('_created')
  }
  const type = draw.pick(eventTypes.filter(isUpdate))
  raise(type, id, audienceOf(type, record))
}

/** How often each is the subject of a burst, beside the others, which have 1: most events are about timesheets. */
const shares: Readonly<Partial<Record<EventEntity, number>>> = { timesheet: 8, expense: 4, assignment: 3 }

/** Up to `count` of them, for bursts. */
export function drawSubjects(world: World, draw: Draw, count: number): readonly Subject[] {
  const present = (Object.keys(homes) as EventEntity[]).filter(entity => world.at(homes[entity], 0))
  const weights = present.map(entity => [entity, shares[entity] ?? 1] as const)
  const draws = Array.from({ length: present.length > 0 ? count : 0 }, () => {
    const entity = draw.weighted(weights)
    const record = world.at(homes[entity], draw.fraction())
    return record && { id: String(record.id), entity, record }
  })
  return draws.filter(subject => subject !== undefined)
}
