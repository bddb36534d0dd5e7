/** The service of a seed: a sandbox over loopback whose records change by day and between requests, and what is true of them. */
import {
  type EventEntity,
  type EventType,
  eventRule,
  eventTypes,
  payloadKeys,
} from '../../src/contract/events.ts'
import { namedRng, type Rng } from '../../src/lib/rng.ts'
import { generateRecords } from '../../src/sandbox/data/generate.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { mutateWorld } from '../../src/sandbox/live/mutate-world.ts'
import type { Violation } from '../../src/sandbox/server/contract-checker.ts'
import type { CollectionName, World, WorldRecords } from '../../src/sandbox/world.ts'
import { type FaultySandbox, startFaultySandbox } from '../fault-layer/start.ts'
import { changes, mend } from './changes.ts'
import { type Climate, collectionOf, type ListName, mayHide, maySeemHidden } from './climate.ts'
import type { SimulatedClock } from './clock.ts'
import type { Counts } from './counts.ts'
import { resourceOf } from './oracle.ts'
import { visitor } from './source.ts'

/** Generated once each: the records are never changed in place. */
const generated = new Map<number, WorldRecords>()

/** Of the first variants, and of those after them in turn: lists of up to 50 records, and of up to 25. */
const scaleOf = (variant: number): number => (variant < 4 ? 0.01 : [0.003, 0.005][variant % 2]!)

function recordsOf(variant: number): WorldRecords {
  const records =
    generated.get(variant) ?? generateRecords({ seed: variant, scale: scaleOf(variant), today: '2026-11-02' })
  generated.set(variant, records)
  return records
}

const pick = <Item>(rng: Rng, items: readonly Item[]): Item => items[Math.floor(rng() * items.length)]!

export interface ServiceParts {
  readonly seed: number
  readonly climate: Climate
  readonly clock: SimulatedClock
  readonly counts: Counts
}

/** When a record last changed in truth, and whether it is there. */
export interface Truth {
  changedAt: number
  isThere: boolean
  /** It was deleted at some time. */
  wasDeleted: boolean
  /** When an event told of it last; 0 when none did. */
  announcedAt: number
}

/** The collection of the records that an event is about. */
const collectionsOfEvents = {
  requisition: 'requisitions',
  assignment: 'assignments',
  timesheet: 'timesheets',
  expense: 'expenses',
  invoice: 'invoices',
  credit_note: 'creditNotes',
  trade: 'trades',
  rate: 'rates',
  purchase_order: 'purchaseOrders',
} as const satisfies Record<EventEntity, CollectionName>

/** An event type that tells of such a change of a record of the collection; undefined where the service has none. */
const eventOf = (collection: CollectionName, what: 'changed' | 'deleted'): EventType | undefined =>
  eventTypes.find(type => {
    const { entity, company, deletes } = eventRule(type)
    return (
      company && collectionsOfEvents[entity] === collection && (deletes ?? false) === (what === 'deleted')
    )
  })

export class Service {
  readonly #parts: ServiceParts
  readonly #rng: Rng
  readonly #truth = new Map<string, Truth>()
  /** Events of changes, in order, until somebody has stored them. */
  readonly told: { readonly body: Buffer; sent: number }[] = []
  /** What the key of Muster may spend. */
  readonly #limits: { rateLimitPerDay: number; readonly rateLimitPerMinute: number }
  #sandbox!: FaultySandbox
  #isStormy = false
  #isCalm = false
  #hasQuirks = false
  #hadQuirks = false
  #made = 0
  readonly #judged = new Set<Violation>()

  private constructor(parts: ServiceParts) {
    this.#parts = parts
    this.#rng = namedRng(parts.seed, 'changes')
    const { perDay, perMinute } = parts.climate
    this.#limits = { rateLimitPerDay: perDay, rateLimitPerMinute: perMinute }
  }

  static async open(parts: ServiceParts): Promise<Service> {
    const service = new Service(parts)
    const { climate, clock, seed } = parts
    const ours = Object.assign(service.#limits, { key: sandboxKeys.company, kind: 'company' as const })
    service.#sandbox = await startFaultySandbox({
      records: recordsOf(climate.variant),
      clock,
      seed,
      options: climate.options,
      faults: climate.faults,
      faultSeed: seed,
      keys: [ours, { ...ours, key: visitor, rateLimitPerMinute: 1e6, rateLimitPerDay: 1e9 }],
      onRequest: () => service.#onRequest(),
    })
    service.#observe()
    return service
  }

  get world(): World {
    return this.#sandbox.world
  }

  get url(): string {
    return this.#sandbox.url
  }

  get requests(): FaultySandbox['requests'] {
    return this.#sandbox.requests
  }

  /** Requests that broke the contract since the last call, limits included. */
  newViolations(): readonly Violation[] {
    const fresh = this.#sandbox.violations().filter(one => !this.#judged.has(one))
    for (const one of fresh) this.#judged.add(one)
    return fresh
  }

  close(): Promise<void> {
    return this.#sandbox.close()
  }

  truthOf(collection: CollectionName, id: string): Truth | undefined {
    return this.#truth.get(`${collection} ${id}`)
  }

  /** Whether records may be on no page although nothing contradicts the answers. */
  get mayHide(): boolean {
    return this.#hadQuirks && mayHide(this.#parts.climate)
  }

  get maySeemHidden(): boolean {
    return this.#hadQuirks && maySeemHidden(this.#parts.climate)
  }

  /** Whether it answered a request of Muster for the list with a page, whatever that was worth, since so many requests. */
  showed(list: ListName, since: number): boolean {
    const path = new RegExp(`^${resourceOf(list).path.replace(/\{\w+\}/g, '[^/]+')}$`)
    return this.requests
      .slice(since)
      .some(request => request.status === 200 && request.key !== visitor && path.test(request.path))
  }

  /** Ids of records whose last change an event told of. */
  announced(collection: CollectionName): string[] {
    return [...this.#truth]
      .filter(
        ([at, { changedAt, announcedAt }]) => at.startsWith(`${collection} `) && announcedAt >= changedAt,
      )
      .map(([at]) => at.slice(collection.length + 1))
  }

  /** Records change between requests from now on. */
  storm(): void {
    this.#isStormy = true
  }

  /** The service deviates from its contract from now on. */
  deviate(): void {
    const { climate } = this.#parts
    this.#hasQuirks = true
    this.#hadQuirks = true
    this.#sandbox.setQuirks({ all: climate.quirks })
  }

  /**
   * Every answer is right from now on, and nothing changes. A list that takes many passes also needs the requests for them:
   * a run that lacks those says so and begins anew the next day.
   */
  calm(): void {
    this.#limits.rateLimitPerDay = 50_000
    this.#isStormy = false
    this.#isCalm = true
    this.#hasQuirks = false
    this.#sandbox.setQuirks()
    this.#sandbox.faults.stop()
  }

  /** What a reader sees whom no fault meets, and to whom the service keeps its contract. */
  async unspoiled<Result>(look: () => Promise<Result>): Promise<Result> {
    const { faults } = this.#sandbox
    faults.stop()
    this.#sandbox.setQuirks()
    const seen = await look()
    if (!this.#isCalm) faults.resume()
    if (this.#hasQuirks) this.deviate()
    return seen
  }

  /** What happens between two nights. */
  day(): void {
    const { climate, clock } = this.#parts
    const count = Math.floor(this.#rng() * (climate.changesPerDay + 1))
    for (let done = 0; done < count; done += 1) {
      clock.advance(Math.floor((this.#rng() * 10 * 3_600_000) / count))
      this.#changeOnce()
    }
  }

  /** Between two nights, or within one, nothing changes that nobody tells of. */
  still(): void {
    this.#isStormy = false
  }

  /** Records that are read by id change, and events tell of it. */
  evening(): void {
    const { climate, counts } = this.#parts
    for (const name of climate.byId) {
      const collection = collectionOf(name)
      const type = eventOf(collection, 'changed')
      const record = this.world.at(collection, this.#rng())
      if (!type || !record || this.#rng() < 0.3) continue
      this.#made += 1
      counts.add('change told in the evening')
      const { clock } = this.#parts
      const [nowMs, number, rng] = [clock.now(), this.#made, this.#rng]
      const announce = (): void => this.#tell(type, String(record.id))
      changes.touch({
        world: this.world,
        collection,
        record,
        rng,
        nowMs,
        number,
        announce,
        work: () => undefined,
      })
    }
  }

  mend(): void {
    mend(this.world, this.#parts.clock.now())
  }

  /** Changes of the world become truth at the time at which they happen. */
  #observe(): void {
    const { world, clock } = { world: this.world, clock: this.#parts.clock }
    const [upsert, remove] = [world.upsert.bind(world), world.remove.bind(world)]
    const note = (collection: CollectionName, id: unknown, isThere: boolean): void => {
      const at = `${collection} ${id}`
      const { wasDeleted: was = false, announcedAt = 0 } = this.#truth.get(at) ?? {}
      this.#truth.set(at, { changedAt: clock.now(), isThere, wasDeleted: was || !isThere, announcedAt })
    }
    world.upsert = (collection, record) => {
      upsert(collection, record)
      note(collection, record.id, true)
    }
    world.remove = (collection, id) => {
      note(collection, id, false)
      return remove(collection, id)
    }
  }

  #onRequest(): void {
    const { climate } = this.#parts
    if (!this.#isStormy || this.#rng() >= climate.changesBetween) return
    const count = 1 + Math.floor(this.#rng() * climate.changesAtOnce)
    for (let done = 0; done < count; done += 1) this.#changeOnce()
  }

  #changeOnce(): void {
    const { climate, counts, clock } = this.#parts
    const { world } = this
    const collection = pick(this.#rng, [
      ...climate.lists.map(collectionOf),
      ...climate.byId.map(collectionOf),
    ])
    const kind = pick(this.#rng, climate.changes)
    const record = world.at(collection, this.#rng())
    if (!record || !kind) return
    counts.add(`change ${kind}`)
    this.#made += 1
    const [nowMs, number, rng] = [clock.now(), this.#made, this.#rng]
    const announce = (what: 'changed' | 'deleted'): void => {
      const type = eventOf(collection, what)
      // Half of these changes are announced by none.
      if (type && number % 2 === 0) this.#tell(type, String(record.id))
    }
    changes[kind]({ world, collection, record, rng, nowMs, number, announce, work: () => this.#work() })
  }

  #work(): void {
    const { clock, climate } = this.#parts
    const raise = (type: EventType, id: string): void => this.#tell(type, id)
    const { deletions } = climate
    mutateWorld(this.world, { rng: this.#rng, nowMs: clock.now(), count: 1, deletions, raise })
  }

  #tell(type: EventType, recordId: string): void {
    const { seed, clock } = this.#parts
    this.#made += 1
    const truth = this.#truth.get(`${collectionsOfEvents[eventRule(type).entity]} ${recordId}`)
    if (truth) truth.announcedAt = clock.now()
    const data = { [payloadKeys[eventRule(type).entity]]: { id: recordId } }
    const event = { id: `evt${seed}x${this.#made}`, type, createdAt: clock.iso, data }
    this.told.push({ body: Buffer.from(JSON.stringify(event)), sent: 0 })
  }
}
