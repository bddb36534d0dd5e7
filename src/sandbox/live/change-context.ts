/** What every kind of change works with: the world, a random stream and one moment. */

import type { EventType } from '../../contract/events.ts'
import type { Rng } from '../../lib/rng.ts'
import { pick } from '../data/draw.ts'
import { concernOf, type Raise } from '../events/concern.ts'
import type { StoredRecord } from '../records/record.ts'
import type { Collection, World } from '../world.ts'

export interface Change {
  readonly kind: 'created' | 'updated' | 'removed'
  readonly collection: Collection
  readonly id: string
}

/** Where changes come from and who is told of them. */
export interface Occasion {
  readonly rng: Rng
  /** Becomes the `updatedAt` of whatever changes, unless the world has seen a later one. */
  readonly nowMs: number
  readonly raise?: Raise
}

interface Telling {
  /** Of another record, which the given one names. */
  readonly id?: string
  /** The only one of its agencies that had a part in it. */
  readonly agencyId?: string
}

/** Finds a property that one record in a hundred has, 19 times of 20. */
const DRAWS = 300

export class ChangeContext {
  readonly world: World
  readonly rng: Rng
  /** Never before the latest change of the world, whatever the clock says. */
  readonly nowMs: number
  readonly now: string
  readonly changes: Change[] = []
  private readonly candidates = new Map<string, StoredRecord[]>()
  private readonly raise: Raise | undefined

  constructor(world: World, { rng, nowMs, raise }: Occasion) {
    const latest = Date.parse(world.latestUpdate())
    this.world = world
    this.rng = rng
    this.raise = raise
    this.nowMs = Number.isNaN(latest) ? nowMs : Math.max(nowMs, latest)
    this.now = new Date(this.nowMs).toISOString()
  }

  /** Records with a property as of the first time it was asked for: looking once per batch keeps changes cheap. */
  list(
    collection: Collection,
    name: string,
    test: (record: StoredRecord) => boolean,
  ): readonly StoredRecord[] {
    const list = this.candidates.get(`${collection} ${name}`) ?? this.world.all(collection).filter(test)
    this.candidates.set(`${collection} ${name}`, list)
    return list
  }

  /** One of them, as it is now: most are found by drawing, without looking at the whole collection. */
  find(
    collection: Collection,
    name: string,
    test: (record: StoredRecord) => boolean,
  ): StoredRecord | undefined {
    for (let drawn = 0; drawn < DRAWS; drawn += 1) {
      const record = this.world.at(collection, this.rng())
      if (record && test(record)) return record
    }
    const list = this.list(collection, name, test)
    if (list.length === 0) return undefined
    const current = this.world.get(collection, String(pick(this.rng, list).id))
    return current && test(current) ? current : undefined
  }

  /** After the change: whoever is told may look at once. */
  tell(type: EventType, record: StoredRecord, { id = String(record.id), agencyId }: Telling = {}): void {
    const concern = concernOf(type, record)
    this.raise?.(type, id, agencyId === undefined ? concern : { ...concern, agencyIds: [agencyId] })
  }

  create(collection: Collection, record: StoredRecord): void {
    this.world.upsert(collection, record)
    this.changes.push({ kind: 'created', collection, id: String(record.id) })
  }

  update(collection: Collection, record: StoredRecord): void {
    this.world.upsert(collection, { ...record, updatedAt: this.now })
    this.changes.push({ kind: 'updated', collection, id: String(record.id) })
  }

  remove(collection: Collection, record: StoredRecord): void {
    this.world.remove(collection, String(record.id))
    this.changes.push({ kind: 'removed', collection, id: String(record.id) })
  }
}
