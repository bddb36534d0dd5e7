/** What every change works with: the world, a random stream and one moment. */
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

/** Where changes come from and where their events go. */
export interface Occasion {
  readonly rng: Rng
  /** Becomes the `updatedAt` of every changed record, unless the world has seen a later one. */
  readonly nowMs: number
  readonly raise?: Raise
}

export interface Addressing {
  /** The event is about another record, which the given one names. */
  readonly id?: string
  /** The only agency of the record that had a part in it. */
  readonly agencyId?: string
}

/** Which records of a collection a change may start from; `state` says it in words, once per collection. */
export interface Condition {
  readonly collection: Collection
  readonly state: string
  readonly test: (record: StoredRecord, context: ChangeContext) => boolean
}

/** With 300 draws a property of one record in a hundred is found 19 times of 20. */
const draws = 300

export class ChangeContext {
  readonly world: World
  readonly draw: Draw
  /** Never before the latest change of the world, whatever the clock says. */
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

  /** The records in a state when it was first asked for: one look at the collection per batch keeps changes cheap. */
  list({ collection, state, test }: Condition): readonly StoredRecord[] {
    const name = `${collection} ${state}`
    const list = this.#candidates.get(name) ?? this.world.all(collection).filter(record => test(record, this))
    this.#candidates.set(name, list)
    return list
  }

  /** One of them, as it is now: most are found by drawing, without a look at the whole collection. */
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

  /** Called after the change: a receiver may read the record at once. */
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
