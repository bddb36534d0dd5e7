/** The context of a change: the world, a random stream and one moment. */
import type { EventType } from '../../contract/events.ts'
import type { Rng } from '../../lib/rng.ts'
import { Draw } from '../data/draw.ts'
import { audienceOf, type Raise } from '../events/audience.ts'
import type { StoredRecord } from '../records/record.ts'
import type { Collection, World } from '../world.ts'

export interface Change {
  readonly kind: 'created' | 'updated' | 'removed'
  readonly collection: Collection
  readonly id: string
}

/** The random stream and time of changes, and the receiver of their events. */
export interface Occasion {
  readonly rng: Rng
  /** Becomes the `updatedAt` of every changed record, unless the world has seen a later one. */
  readonly nowMs: number
  readonly raise?: Raise
}

export interface Addressing {
  /** The id of the event's subject, if that is not the given record. */
  readonly id?: string
  /** The only agency of the record that the event concerns. */
  readonly agencyId?: string
}

/** The records that a change may start from. `state` is a unique name for the test within its collection. */
export interface Condition {
  readonly collection: Collection
  readonly state: string
  readonly test: (record: StoredRecord, context: ChangeContext) => boolean
}

/** 300 draws find a property that one record in a hundred has with 95% probability. */
const draws = 300

export class ChangeContext {
  readonly world: World
  readonly draw: Draw
  /** Never before the latest change of the world, even if the clock is. */
  readonly nowMs: number
  readonly now: string
  readonly changes: Change[] = []
  readonly #candidates = new Map<string, StoredRecord[]>()
  readonly #raise: Raise | undefined

  constructor(world: World, { rng, nowMs, raise }: Occasion) {
    const latest = Date.parse(world.latestUpdate())
    this.world = world
    this.draw = new Draw(rng)
    this.#raise = raise
    this.nowMs = Number.isNaN(latest) ? nowMs : Math.max(nowMs, latest)
    this.now = new Date(this.nowMs).toISOString()
  }

  /** The records that met the condition when this batch first asked: one pass over the collection is cheap. */
  list({ collection, state, test }: Condition): readonly StoredRecord[] {
    const name = `${collection} ${state}`
    const list = this.#candidates.get(name) ?? this.world.all(collection).filter(record => test(record, this))
    this.#candidates.set(name, list)
    return list
  }

  /** One record that meets the condition now. Random draws find most, without a pass over the collection. */
  find(condition: Condition): StoredRecord | undefined {
    const { collection, test } = condition
    for (let drawn = 0; drawn < draws; drawn += 1) {
      const record = this.world.at(collection, this.draw.fraction())
      if (record && test(record, this)) return record
    }
    const list = this.list(condition)
    if (list.length === 0) return undefined
    const current = this.world.get(collection, String(this.draw.pick(list).id))
    return current && test(current, this) ? current : undefined
  }

  /** To be called after the change: a receiver may read the record at once. */
  send(type: EventType, record: StoredRecord, { id = String(record.id), agencyId }: Addressing = {}): void {
    const audience = audienceOf(type, record)
    this.#raise?.(type, id, agencyId === undefined ? audience : { ...audience, agencyIds: [agencyId] })
  }

  create(collection: Collection, record: StoredRecord): void {
    this.world.upsert(collection, record)
    this.#note('created', collection, record)
  }

  update(collection: Collection, record: StoredRecord): void {
    this.world.upsert(collection, { ...record, updatedAt: this.now })
    this.#note('updated', collection, record)
  }

  remove(collection: Collection, record: StoredRecord): void {
    this.world.remove(collection, String(record.id))
    this.#note('removed', collection, record)
  }

  #note(kind: Change['kind'], collection: Collection, { id }: StoredRecord): void {
    this.changes.push({ kind, collection, id: String(id) })
  }
}

/** A value kept for each world, such as an index of its records. */
export function perWorld<T>(make: (world: World) => T): (world: World) => T {
  const made = new WeakMap<World, T>()
  return world => {
    const value = made.get(world) ?? make(world)
    made.set(world, value)
    return value
  }
}
