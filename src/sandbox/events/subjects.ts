/** Records that events can be about: those the sandbox holds, and those its records name by id. */
import type { Rng } from '../../lib/rng.ts'
import { type EventEntity, type EventType, eventRule, eventTypes } from '../../resources/events.ts'
import { pick } from '../data/draw.ts'
import { pathReader, type StoredRecord } from '../record.ts'
import type { Collection, World } from '../world.ts'
import { type Concern, concernOf, type Raise } from './concern.ts'

/** Where the records of an entity are kept; the others are known by their ids only. */
const homes: Partial<Record<EventEntity, Collection>> = {
  timesheet: 'timesheets',
  expense: 'expenses',
  invoice: 'invoices',
}

/** Undefined for a record the sandbox does not hold. */
export function knownConcern(world: World, type: EventType, id: string): Concern | undefined {
  const home = homes[eventRule(type).entity]
  const record = home && world.get(home, id)
  return record && concernOf(type, record)
}

interface Source {
  readonly entity: EventEntity
  readonly collection: Collection
  readonly id: string
}

/** Company and agency of a record that is only named are those of the record that names it. */
const named: readonly Source[] = [
  { entity: 'assignment', collection: 'timesheets', id: 'assignment.id' },
  { entity: 'trade', collection: 'competencyMatrix', id: 'trade.id' },
]

const held: readonly Source[] = Object.entries(homes).map(([entity, collection]) => ({
  entity: entity as EventEntity,
  collection,
  id: 'id',
}))

/** What live mode changes itself tells its own news: of the others news is made up. */
const changing: ReadonlySet<EventEntity> = new Set(['timesheet', 'expense', 'invoice'])
const quiet = [...held, ...named].filter(({ entity }) => !changing.has(entity))

export interface Subject {
  readonly id: string
  readonly entity: EventEntity
  /** The record itself, or the one that names it. */
  readonly record: StoredRecord
}

function drawSubject(world: World, rng: Rng, sources: readonly Source[]): Subject | undefined {
  const { entity, collection, id: path } = pick(rng, sources)
  const record = world.at(collection, rng())
  const id = pathReader(path)(record)
  return record && typeof id === 'string' ? { id, entity, record } : undefined
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

/** News of a record that does not change: whoever looks finds it as it was, or cannot read it here. */
export function raiseQuiet(world: World, rng: Rng, raise: Raise): void {
  const subject = drawSubject(world, rng, quiet)
  if (subject) raiseNews(raise, rng, subject)
}

/** Up to `count` of them, for bursts. */
export function drawSubjects(world: World, rng: Rng, count: number): readonly Subject[] {
  const draws = Array.from({ length: count }, () => drawSubject(world, rng, [...held, ...named]))
  return draws.filter(subject => subject !== undefined)
}
