/** Runs the service of a seed: a sandbox whose records change by day and between requests, and tracks every change. */
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
import { changes, repair } from './changes.ts'
import type { SimulatedClock } from './clock.ts'
import type { Counts } from './counts.ts'
import { resourceOf } from './oracle.ts'
import { collectionOf, type ListName, mayHide, maySeemHidden, type Scenario } from './scenario.ts'
import { visitorKey } from './source.ts'

/** Each variant is generated once, because its records are never changed in place. */
const generated = new Map<number, WorldRecords>()

/** Variants 1 to 3 have lists of up to 50 records, later ones of up to 25. */
const scaleOf = (variant: number): number => (variant < 4 ? 0.01 : [0.003, 0.005][variant % 2]!)

function generateVariant(variant: number): WorldRecords {
  const records =
    generated.get(variant) ?? generateRecords({ seed: variant, scale: scaleOf(variant), today: '2026-11-02' })
  generated.set(variant, records)
  return records
}

const pick = <Item>(rng: Rng, items: readonly Item[]): Item => items[Math.floor(rng() * items.length)]!

export interface ServiceParts {
  readonly seed: number
  readonly scenario: Scenario
  readonly clock: SimulatedClock
  readonly counts: Counts
}

/** When a record of the service last changed, and whether it exists. */
export interface Truth {
  changedAt: number
  exists: boolean
  /** Whether it was ever deleted. */
  wasDeleted: boolean
  /** When the last event about it was sent, in milliseconds; 0 if never. */
  announcedAt: number
}

/** The collection of each kind of record that events are about. */
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

/** The event type for such a change of a record of the collection; undefined if the service has none. */
const eventTypeFor = (collection: CollectionName, what: 'changed' | 'deleted'): EventType | undefined =>
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
  /** Events in order, until Muster has stored them. */
  readonly deliveries: { readonly body: Buffer; sent: number }[] = []
  /** Request limits of Muster's key. */
  readonly #limits: { rateLimitPerDay: number; readonly rateLimitPerMinute: number }
  #sandbox!: FaultySandbox
  #isChanging = false
  #hasStopped = false
  #hasQuirks = false
  #hadQuirks = false
  #lastNumber = 0
  readonly #returnedViolations = new Set<Violation>()

  private constructor(parts: ServiceParts) {
    this.#parts = parts
    this.#rng = namedRng(parts.seed, 'changes')
    const { perDay, perMinute } = parts.scenario
    this.#limits = { rateLimitPerDay: perDay, rateLimitPerMinute: perMinute }
  }

  static async open(parts: ServiceParts): Promise<Service> {
    const service = new Service(parts)
    const { scenario, clock, seed } = parts
    const musterKey = Object.assign(service.#limits, { key: sandboxKeys.company, kind: 'company' as const })
    service.#sandbox = await startFaultySandbox({
      records: generateVariant(scenario.variant),
      clock,
      seed,
      options: scenario.options,
      faults: scenario.faults,
      faultSeed: seed,
      keys: [musterKey, { ...musterKey, key: visitorKey, rateLimitPerMinute: 1e6, rateLimitPerDay: 1e9 }],
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

  /** Violations of the contract since the last call, request limits included. */
  newViolations(): readonly Violation[] {
    const fresh = this.#sandbox.violations().filter(one => !this.#returnedViolations.has(one))
    for (const one of fresh) this.#returnedViolations.add(one)
    return fresh
  }

  close(): Promise<void> {
    return this.#sandbox.close()
  }

  truthOf(collection: CollectionName, id: string): Truth | undefined {
    return this.#truth.get(`${collection} ${id}`)
  }

  /** Whether records may be hidden without any contradiction between the answers. */
  get mayHide(): boolean {
    return this.#hadQuirks && mayHide(this.#parts.scenario)
  }

  /** The same for short lists. */
  get maySeemHidden(): boolean {
    return this.#hadQuirks && maySeemHidden(this.#parts.scenario)
  }

  /** Whether Muster received a page of the list, valid or not, after the first `since` requests. */
  hasShown(list: ListName, since: number): boolean {
    const path = new RegExp(`^${resourceOf(list).path.replace(/\{\w+\}/g, '[^/]+')}$`)
    return this.requests
      .slice(since)
      .some(request => request.status === 200 && request.key !== visitorKey && path.test(request.path))
  }

  /** Ids of records whose last change an event announced. */
  announced(collection: CollectionName): string[] {
    return [...this.#truth]
      .filter(
        ([at, { changedAt, announcedAt }]) => at.startsWith(`${collection} `) && announcedAt >= changedAt,
      )
      .map(([at]) => at.slice(collection.length + 1))
  }

  /** From now on, records change between requests. */
  startChanges(): void {
    this.#isChanging = true
  }

  /** From now on, the service deviates from its contract. */
  startQuirks(): void {
    const { scenario } = this.#parts
    this.#hasQuirks = true
    this.#hadQuirks = true
    this.#sandbox.setQuirks({ all: scenario.quirks })
  }

  /**
   * From now on, every answer is correct and nothing changes. Also raises the daily limit: a list that takes many passes needs
   * many requests, and a run that has too few of them stops and starts over the next day.
   */
  stopFaultsAndChanges(): void {
    this.#limits.rateLimitPerDay = 50_000
    this.#isChanging = false
    this.#hasStopped = true
    this.#hasQuirks = false
    this.#sandbox.setQuirks()
    this.#sandbox.faults.stop()
  }

  /** Reads from the service with faults and quirks switched off. */
  async withoutFaults<Result>(read: () => Promise<Result>): Promise<Result> {
    const { faults } = this.#sandbox
    faults.stop()
    this.#sandbox.setQuirks()
    const result = await read()
    if (!this.#hasStopped) faults.resume()
    if (this.#hasQuirks) this.startQuirks()
    return result
  }

  /** Changes records between the commands of two days. */
  changeBetweenDays(): void {
    const { scenario, clock } = this.#parts
    const count = Math.floor(this.#rng() * (scenario.changesPerDay + 1))
    for (let done = 0; done < count; done += 1) {
      clock.advance(Math.floor((this.#rng() * 10 * 3_600_000) / count))
      this.#changeOnce()
    }
  }

  /** From now on, records do not change between requests. */
  stopChanges(): void {
    this.#isChanging = false
  }

  /** Changes records that are read by id, with an event for each. */
  changeAfterRun(): void {
    const { scenario, counts } = this.#parts
    for (const name of scenario.byId) {
      const collection = collectionOf(name)
      const type = eventTypeFor(collection, 'changed')
      const record = this.world.at(collection, this.#rng())
      if (!type || !record || this.#rng() < 0.3) continue
      this.#lastNumber += 1
      counts.add('change announced after a run')
      const { clock } = this.#parts
      const [nowMs, number, rng] = [clock.now(), this.#lastNumber, this.#rng]
      const announce = (): void => this.#emitEvent(type, String(record.id))
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

  repair(): void {
    repair(this.world, this.#parts.clock.now())
  }

  /** Records every change of the world with its time. */
  #observe(): void {
    const { world, clock } = { world: this.world, clock: this.#parts.clock }
    const [upsert, remove] = [world.upsert.bind(world), world.remove.bind(world)]
    const recordTruth = (collection: CollectionName, id: unknown, exists: boolean): void => {
      const at = `${collection} ${id}`
      const { wasDeleted: was = false, announcedAt = 0 } = this.#truth.get(at) ?? {}
      this.#truth.set(at, { changedAt: clock.now(), exists, wasDeleted: was || !exists, announcedAt })
    }
    world.upsert = (collection, record) => {
      upsert(collection, record)
      recordTruth(collection, record.id, true)
    }
    world.remove = (collection, id) => {
      recordTruth(collection, id, false)
      return remove(collection, id)
    }
  }

  #onRequest(): void {
    const { scenario } = this.#parts
    if (!this.#isChanging || this.#rng() >= scenario.changesBetween) return
    const count = 1 + Math.floor(this.#rng() * scenario.changesAtOnce)
    for (let done = 0; done < count; done += 1) this.#changeOnce()
  }

  #changeOnce(): void {
    const { scenario, counts, clock } = this.#parts
    const { world } = this
    const collection = pick(this.#rng, [
      ...scenario.lists.map(collectionOf),
      ...scenario.byId.map(collectionOf),
    ])
    const kind = pick(this.#rng, scenario.changes)
    const record = world.at(collection, this.#rng())
    if (!record || !kind) return
    counts.add(`change ${kind}`)
    this.#lastNumber += 1
    const [nowMs, number, rng] = [clock.now(), this.#lastNumber, this.#rng]
    const announce = (what: 'changed' | 'deleted'): void => {
      const type = eventTypeFor(collection, what)
      // Every second change has no event.
      if (type && number % 2 === 0) this.#emitEvent(type, String(record.id))
    }
    changes[kind]({ world, collection, record, rng, nowMs, number, announce, work: () => this.#work() })
  }

  #work(): void {
    const { clock, scenario } = this.#parts
    const raise = (type: EventType, id: string): void => this.#emitEvent(type, id)
    const { deletions } = scenario
    mutateWorld(this.world, { rng: this.#rng, nowMs: clock.now(), count: 1, deletions, raise })
  }

  #emitEvent(type: EventType, recordId: string): void {
    const { seed, clock } = this.#parts
    this.#lastNumber += 1
    const truth = this.#truth.get(`${collectionsOfEvents[eventRule(type).entity]} ${recordId}`)
    if (truth) truth.announcedAt = clock.now()
    const data = { [payloadKeys[eventRule(type).entity]]: { id: recordId } }
    const event = { id: `evt${seed}x${this.#lastNumber}`, type, createdAt: clock.iso, data }
    this.deliveries.push({ body: Buffer.from(JSON.stringify(event)), sent: 0 })
  }
}
