/** Brings events to one webhook: at least once, a few at a time, again after a failure, and badly where asked to. */
import { setMaxListeners } from 'node:events'
import PQueue from 'p-queue'
import { Agent } from 'undici'
import type { Clock } from '../../lib/clock.ts'
import { namedRng } from '../../lib/rng.ts'
import type { DeliveryLog, OpenDelivery, Treatment } from './delivery-log.ts'
import type { EventSettings } from './event-options.ts'
import { type Mishaps, mishapsOf } from './mishaps.ts'
import { post } from './post.ts'
import { type Forgery, type ServiceEvent, signedRequest } from './signed-request.ts'
import type { Webhook } from './webhook.ts'

export interface CourierParts {
  readonly settings: EventSettings
  readonly seed: number
  readonly clock: Clock
  readonly log: DeliveryLog
  /** New ids, the same at every run. */
  readonly newId: (prefix?: 'evt' | 'dlv') => string
}

interface Parcel {
  readonly event: ServiceEvent
  readonly delivery: OpenDelivery
  readonly forgery?: Forgery
}

interface Held {
  readonly parcel: Parcel
  readonly delayMs: number
  /** Events still to go first, of those that go at once. */
  left: number
}

/** What is held back to be overtaken goes after this time even if nothing comes. */
const HOLD_MS = 1000
/** What is under way when the sandbox closes may take this long to end. */
const GRACE_MS = 500

export class Courier {
  readonly webhook: Webhook
  private readonly parts: CourierParts
  private readonly queue: PQueue
  private readonly agent: Agent
  private readonly stopping = new AbortController()
  private readonly underWay = new Set<AbortController>()
  private readonly waiters = new Set<{ readonly limit: number; readonly resolve: () => void }>()
  private held: Held[] = []
  private numbered = 0
  private open = 0

  constructor(webhook: Webhook, parts: CourierParts) {
    const { concurrency } = parts.settings
    this.webhook = webhook
    this.parts = parts
    this.queue = new PQueue({ concurrency })
    this.agent = new Agent({ connections: concurrency })
    // One listener for each delivery that waits: thousands are no leak.
    setMaxListeners(0, this.stopping.signal)
  }

  take(event: ServiceEvent): void {
    if (this.stopping.signal.aborted) return
    const { settings, seed } = this.parts
    const draw = { seed, webhook: this.webhook.name, number: this.numbered++ }
    const mishaps = mishapsOf(settings.faults, settings.delayMs, draw)
    const overtaken = this.held
    if (mishaps.isLost) this.settle(this.parcel(event, ['lost']), 'lost')
    else this.accept(event, mishaps)
    for (const forgery of mishaps.forged) this.dispatch(this.forged(event, forgery))
    const goesAtOnce = !mishaps.isLost && mishaps.overtakenBy === 0 && mishaps.delayMs === 0
    if (goesAtOnce) this.letPass(overtaken)
  }

  /** Resolves when fewer than `limit` deliveries are unsettled, waits for a retry included. */
  below(limit: number): Promise<void> {
    if (this.open < limit) return Promise.resolve()
    return new Promise(resolve => this.waiters.add({ limit, resolve }))
  }

  /** What waits stays unsent; what is under way has a moment to end. */
  async close(): Promise<void> {
    this.stopping.abort()
    for (const { parcel } of this.held.splice(0)) this.settle(parcel, 'unsent')
    const settled = new AbortController()
    const ended = this.below(1).then(() => settled.abort())
    await this.parts.clock.sleep(GRACE_MS, settled.signal).catch(() => undefined)
    for (const attempt of this.underWay) attempt.abort()
    await ended
    await this.agent.destroy()
  }

  private accept(event: ServiceEvent, mishaps: Mishaps): void {
    const { overtakenBy, delayMs, isDuplicated } = mishaps
    const treatments = [
      ...(overtakenBy > 0 ? (['reordered'] as const) : []),
      ...(delayMs > 0 ? (['delayed'] as const) : []),
    ]
    const parcel = this.parcel(event, treatments)
    if (overtakenBy > 0) this.hold({ parcel, delayMs, left: overtakenBy })
    else this.dispatchLater(parcel, delayMs)
    if (isDuplicated) this.dispatch(this.parcel(event, ['duplicated']))
  }

  private hold(held: Held): void {
    this.held = [...this.held, held]
    const release = () => {
      if (this.held.includes(held)) this.release(held)
    }
    // When the courier stops, `close` settles what is held.
    this.parts.clock.sleep(HOLD_MS, this.stopping.signal).then(release, () => undefined)
  }

  private letPass(overtaken: readonly Held[]): void {
    for (const held of overtaken) {
      held.left -= 1
      if (held.left === 0) this.release(held)
    }
  }

  private release(held: Held): void {
    this.held = this.held.filter(other => other !== held)
    this.dispatchLater(held.parcel, held.delayMs)
  }

  private parcel(event: ServiceEvent, treatments: readonly Treatment[]): Parcel {
    const delivery: OpenDelivery = {
      id: this.parts.newId('dlv'),
      webhook: this.webhook.name,
      eventId: event.id,
      type: event.type,
      recordId: event.recordId,
      treatments,
      attempts: [],
      outcome: 'waiting',
    }
    this.parts.log.add(delivery)
    this.open += 1
    return { event, delivery }
  }

  /** Of an event that never happened, so that a receiver that takes it in can be told by its id. */
  private forged(event: ServiceEvent, forgery: Forgery): Parcel {
    const { newId } = this.parts
    const invented = { ...event, id: newId('evt'), recordId: newId() }
    return { ...this.parcel(invented, [forgery]), forgery }
  }

  private dispatchLater(parcel: Parcel, waitMs: number): void {
    if (waitMs === 0) {
      this.dispatch(parcel)
      return
    }
    this.parts.clock.sleep(waitMs, this.stopping.signal).then(
      () => this.dispatch(parcel),
      () => this.settle(parcel, 'unsent'),
    )
  }

  private dispatch(parcel: Parcel): void {
    void this.queue.add(() => this.attempt(parcel))
  }

  private async attempt(parcel: Parcel): Promise<void> {
    if (this.stopping.signal.aborted) {
      this.settle(parcel, 'unsent')
      return
    }
    const { clock, settings } = this.parts
    const { event, delivery, forgery } = parcel
    const nowMs = clock.now()
    const { secret, url } = this.webhook
    const signing = { settings, secret, nowMs, deliveryId: delivery.id, ...(forgery ? { forgery } : {}) }
    const { body, headers } = signedRequest(event, signing)
    const addressee = { url, agent: this.agent, timeoutMs: settings.timeoutMs, underWay: this.underWay }
    const answer = await post({ body, headers: { ...this.webhook.headers, ...headers } }, addressee)
    delivery.attempts.push({ at: new Date(nowMs).toISOString(), ...answer })
    const isTaken = 'status' in answer && answer.status >= 200 && answer.status < 300
    if (isTaken) this.settle(parcel, 'delivered')
    else if (forgery) this.settle(parcel, 'refused')
    else if (delivery.attempts.length >= settings.retry.attempts) this.settle(parcel, 'failed')
    else this.dispatchLater(parcel, this.backoffMs(delivery))
  }

  private backoffMs({ id, attempts }: OpenDelivery): number {
    const { firstMs, factor } = this.parts.settings.retry
    const draw = namedRng(this.parts.seed, `retry ${id} ${attempts.length}`)()
    return Math.ceil(firstMs * factor ** (attempts.length - 1) * (0.8 + 0.4 * draw))
  }

  private settle({ delivery }: Parcel, outcome: OpenDelivery['outcome']): void {
    delivery.outcome = outcome
    this.open -= 1
    for (const waiter of this.waiters) {
      if (this.open >= waiter.limit) continue
      this.waiters.delete(waiter)
      waiter.resolve()
    }
  }
}
