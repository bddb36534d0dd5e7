/**
 * Defines the context of a change (the world, a random stream and the time) and the form of a transition: the records that
 * it starts from, the new status, the change, the events that it sends, and its weight.
 */
import type { EventType } from '../../contract/events.ts'
import type { Rng } from '../../lib/rng.ts'
import { Draw } from '../data/draw.ts'
import type { generateRecords } from '../data/generate.ts'
import { audienceOf, type EventRaiser } from '../events/audience.ts'
import type { StoredRecord } from '../record.ts'
import type { CollectionName, World } from '../world.ts'

export interface RecordChange {
  readonly kind: 'created' | 'updated' | 'removed'
  readonly collection: CollectionName
  readonly id: string
}

/** The random stream and time of changes, and the receiver of their events. */
export interface Occasion {
  readonly rng: Rng
  /** Becomes the `updatedAt` of every changed record, unless the world has seen a later one. */
  readonly nowMs: number
  readonly raise?: EventRaiser
}

type GeneratedRecords = ReturnType<typeof generateRecords>

/** Records that change, as the generator makes them. */
type ChangeableRecords = {
  readonly [Name in Exclude<keyof GeneratedRecords, 'competencyMatrix'>]: GeneratedRecords[Name][number]
}

type ChangeTest<Name extends keyof ChangeableRecords> = (
  row: ChangeableRecords[Name],
  context: ChangeContext,
) => boolean

/** The records that a change may start from. */
interface ChangeCondition<Name extends keyof ChangeableRecords = keyof ChangeableRecords> {
  readonly collection: Name
  /** Unique within the collection. */
  readonly state: string
  readonly test: ChangeTest<Name>
}

/** 300 draws find a property that one record in a hundred has with 95% probability. */
const draws = 300

export class ChangeContext {
  readonly world: World
  readonly draw: Draw
  /** Never before the latest change of the world, even if the clock is. */
  readonly nowMs: number
  readonly now: string
  readonly changes: RecordChange[] = []
  readonly #candidates = new Map<string, readonly object[]>()
  readonly #raise: EventRaiser | undefined

  constructor(world: World, { rng, nowMs, raise }: Occasion) {
    const latest = Date.parse(world.latestUpdate())
    this.world = world
    this.draw = new Draw(rng)
    this.#raise = raise
    this.nowMs = Number.isNaN(latest) ? nowMs : Math.max(nowMs, latest)
    this.now = new Date(this.nowMs).toISOString()
  }

  get<Name extends keyof ChangeableRecords>(
    collection: Name,
    id: string,
  ): ChangeableRecords[Name] | undefined {
    return this.world.get(collection, id) as ChangeableRecords[Name] | undefined
  }

  all<Name extends keyof ChangeableRecords>(collection: Name): readonly ChangeableRecords[Name][] {
    return this.world.all(collection) as unknown as readonly ChangeableRecords[Name][]
  }

  /** The records that met the condition when this batch first asked: one pass over the collection is cheap. */
  list<Name extends keyof ChangeableRecords>(
    condition: ChangeCondition<Name>,
  ): readonly ChangeableRecords[Name][] {
    const { collection, state } = condition
    const name = `${collection} ${state}`
    const list = this.#candidates.get(name) ?? this.all(collection).filter(row => this.#meets(row, condition))
    this.#candidates.set(name, list)
    return list as readonly ChangeableRecords[Name][]
  }

  /** One record that meets the condition now. Random draws find most, without a pass over the collection. */
  find<Name extends keyof ChangeableRecords>(
    condition: ChangeCondition<Name>,
  ): ChangeableRecords[Name] | undefined {
    const { collection } = condition
    for (let drawn = 0; drawn < draws; drawn += 1) {
      const row = this.world.at(collection, this.draw.fraction()) as ChangeableRecords[Name] | undefined
      if (row && this.#meets(row, condition)) return row
    }
    const list = this.list(condition)
    if (list.length === 0) return undefined
    const current = this.get(collection, this.draw.pick(list).id)
    return current && this.#meets(current, condition) ? current : undefined
  }

  /** A caller's own records may have few fields: those without a time of creation are only saved again. */
  #meets<Name extends keyof ChangeableRecords>(
    row: ChangeableRecords[Name],
    { test }: ChangeCondition<Name>,
  ): boolean {
    return 'createdAt' in row && test(row, this)
  }

  /**
   * To be called after the change: a receiver may read the record at once. `id` is that of the event's subject, if that is
   * not the record, and `agencyId` the only agency of the record that the event concerns.
   */
  send(type: EventType, record: object, { id, agencyId }: { id?: string; agencyId?: string } = {}): void {
    const stored = record as StoredRecord
    const only = agencyId !== undefined && { agencyIds: [agencyId] }
    this.#raise?.(type, id ?? String(stored.id), { ...audienceOf(type, stored), ...only })
  }

  create(collection: CollectionName, record: object): void {
    this.world.upsert(collection, record as StoredRecord)
    this.#note('created', collection, record)
  }

  update(collection: CollectionName, record: object): void {
    this.world.upsert(collection, { ...record, updatedAt: this.now })
    this.#note('updated', collection, record)
  }

  remove(collection: CollectionName, record: object): void {
    this.world.remove(collection, String((record as StoredRecord).id))
    this.#note('removed', collection, record)
  }

  #note(kind: RecordChange['kind'], collection: CollectionName, record: object): void {
    this.changes.push({ kind, collection, id: String((record as StoredRecord).id) })
  }
}

/** A cached value for each world, such as an index of its records. */
export function perWorld<T>(make: (world: World) => T): (world: World) => T {
  const made = new WeakMap<World, T>()
  return world => {
    const value = made.get(world) ?? make(world)
    made.set(world, value)
    return value
  }
}

/** Finds the record to change, or the several records of one change. Writes nothing. */
export type RecordFinder<Found> = (context: ChangeContext) => Found | undefined

/** Finds a record that meets a condition. */
export function where<Name extends keyof ChangeableRecords>(
  collection: Name,
  state: string,
  test: ChangeCondition<Name>['test'],
): RecordFinder<ChangeableRecords[Name]> & ChangeCondition<Name> {
  const condition = { collection, state, test }
  return Object.assign((context: ChangeContext) => context.find(condition), condition)
}

export const inStatus = <Name extends keyof ChangeableRecords>(collection: Name, status: string) =>
  where(collection, status, row => 'status' in row && row.status === status)

/** One event, several, or a map from the record's new status to its events. */
type Events = EventType | readonly EventType[]
type TransitionEvents = Events | Readonly<Record<string, Events>>

interface TransitionDeclaration<Found> {
  readonly from: RecordFinder<Found>
  /** The new status, if the transition always leads to the same one. */
  readonly to?: string
  /** Returns the changed record, one or several new ones, or undefined if none can be made. By default only the status changes. */
  readonly make?: (found: Found, context: ChangeContext) => object | readonly object[] | undefined
  /** Changes to other records: runs after the record is written and before events are sent. */
  readonly also?: (context: ChangeContext, found: Found, after: StoredRecord) => void
  readonly sends?: TransitionEvents
}

export interface Transition {
  readonly write: 'update' | 'create' | 'remove'
  /** Its weight among all transitions. */
  readonly chance: number
  /** Makes one change, or returns false if no record allows it. */
  readonly apply: (context: ChangeContext) => boolean
}

const declare =
  (write: Transition['write']) =>
  <Found>(collection: CollectionName, chance: number, declared: TransitionDeclaration<Found>): Transition => {
    const { from, make = found => found as object, to, also, sends = [] } = declared
    const apply = (context: ChangeContext) => {
      const found = from(context)
      const made = found && make(found, context)
      if (!made) return false
      for (const record of [made].flat()) {
        const after = (to === undefined ? record : { ...record, status: to }) as StoredRecord
        context[write](collection, after)
        also?.(context, found, after)
        for (const type of eventsOf(sends, String(after.status))) context.send(type, after)
      }
      return true
    }
    return { write, chance, apply }
  }

export const update = declare('update')
export const create = declare('create')
export const remove = declare('remove')

function eventsOf(sends: TransitionEvents, status: string): readonly EventType[] {
  if (typeof sends === 'string') return [sends]
  if (Array.isArray(sends)) return sends
  return eventsOf((sends as Readonly<Record<string, Events>>)[status] ?? [], status)
}
