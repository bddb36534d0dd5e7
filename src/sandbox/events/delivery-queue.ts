/** Delivers events to one webhook: at least once, a few at a time, again after a failure, and with faults where asked to. */
import { setMaxListeners } from 'node:events'
import PQueue from 'p-queue'
import { Agent, request } from 'undici'
import type { Clock } from '../../lib/clock.ts'
import { namedRng } from '../../lib/rng.ts'
import type { Attempt, DeliveryLog, OpenDelivery, Treatment } from './delivery-log.ts'
import { drawnFaults, type EventFaults, type Forgery } from './event-faults.ts'
import type { EventSettings } from './event-options.ts'
import { type ServiceEvent, type SignedRequest, signedRequest } from './signed-request.ts'
import type { Webhook } from './webhook.ts'

export interface QueueParts {
  readonly settings: EventSettings
  readonly seed: number
  readonly clock: Clock
  readonly log: DeliveryLog
  /** New ids, the same at every run. */
  readonly newId: (prefix?: 'evt' | 'dlv') => string
}

interface Queued {
  readonly event: ServiceEvent
  readonly delivery: OpenDelivery
  readonly forgery?: Forgery
}

interface HeldBack {
  readonly queued: Queued
  readonly delayMs: number
  /** Events that must still go first, of those that go at once. */
  left: number
}

/** An event that is held back to be overtaken goes after this time even if no other comes. */
const longestHoldMs = 1000
/** Attempts under way when the sandbox closes may take this long to end. */
const graceMs = 500

export class DeliveryQueue {
  readonly webhook: Webhook
  readonly #parts: QueueParts
  readonly #queue: PQueue
  readonly #agent: Agent
  readonly #stopping = new AbortController()
  readonly #waiters = new Set<{ readonly limit: number; readonly resolve: () => void }>()
  #heldBack: HeldBack[] = []
  #numbered = 0
  #open = 0

  constructor(webhook: Webhook, parts: QueueParts) {
    const { concurrency } = parts.settings
    this.webhook = webhook
    this.#parts = parts
    this.#queue = new PQueue({ concurrency })
    this.#agent = new Agent({ connections: concurrency })
    // One listener for each delivery that waits: thousands are no leak.
    setMaxListeners(0, this.#stopping.signal)
  }

  add(event: ServiceEvent): void {
    if (this.#stopping.signal.aborted) return
    const { settings, seed } = this.#parts
    const place = { seed, webhook: this.webhook.name, number: this.#numbered++ }
    const faults = drawnFaults(settings.faults, settings.delayMs, place)
    const overtaken = this.#heldBack
    if (faults.isLost) this.#settle(this.#queued(event, ['lost']), 'lost')
    else this.#accept(event, faults)
    for (const forgery of faults.forged) this.#dispatch(this.#forged(event, forgery))
    const goesAtOnce = !faults.isLost && faults.overtakenBy === 0 && faults.delayMs === 0
    if (goesAtOnce) this.#letPass(overtaken)
  }

  /** Resolves when fewer than `limit` deliveries are unsettled, waits for a retry included. */
  below(limit: number): Promise<void> {
    if (this.#open < limit) return Promise.resolve()
    return new Promise(resolve => this.#waiters.add({ limit, resolve }))
  }

  /** Waiting deliveries stay unsent; attempts under way have a moment to end. */
  async close(): Promise<void> {
    this.#stopping.abort()
    for (const { queued } of this.#heldBack.splice(0)) this.#settle(queued, 'unsent')
    const settled = new AbortController()
    const ended = this.below(1).then(() => settled.abort())
    // Rejects when the last attempt ends first.
    await this.#parts.clock.sleep(graceMs, settled.signal).catch(() => undefined)
    await this.#agent.destroy()
    await ended
  }

  #accept(event: ServiceEvent, { overtakenBy, delayMs, isDuplicated }: EventFaults): void {
    const treatments = [
      ...(overtakenBy > 0 ? (['reordered'] as const) : []),
      ...(delayMs > 0 ? (['delayed'] as const) : []),
    ]
    const queued = this.#queued(event, treatments)
    if (overtakenBy > 0) this.#holdBack({ queued, delayMs, left: overtakenBy })
    else this.#dispatchLater(queued, delayMs)
    if (isDuplicated) this.#dispatch(this.#queued(event, ['duplicated']))
  }

  #holdBack(held: HeldBack): void {
    this.#heldBack = [...this.#heldBack, held]
    const release = () => {
      if (this.#heldBack.includes(held)) this.#release(held)
    }
    // The wait is aborted when the queue closes: `close` settles the events that are held back.
    this.#parts.clock.sleep(longestHoldMs, this.#stopping.signal).then(release, () => undefined)
  }

  #letPass(overtaken: readonly HeldBack[]): void {
    for (const held of overtaken) {
      held.left -= 1
      if (held.left === 0) this.#release(held)
    }
  }

  #release(held: HeldBack): void {
    this.#heldBack = this.#heldBack.filter(other => other !== held)
    this.#dispatchLater(held.queued, held.delayMs)
  }

  #queued(event: ServiceEvent, treatments: readonly Treatment[]): Queued {
    const delivery: OpenDelivery = {
      id: this.#parts.newId('dlv'),
      webhook: this.webhook.name,
      eventId: event.id,
      type: event.type,
      recordId: event.recordId,
      treatments,
      attempts: [],
      outcome: 'waiting',
    }
    this.#parts.log.add(delivery)
    this.#open += 1
    return { event, delivery }
  }

  /** Of an event that never happened, so that a receiver that accepts it shows by its id. */
  #forged(event: ServiceEvent, forgery: Forgery): Queued {
    const { newId } = this.#parts
    const invented = { ...event, id: newId('evt'), recordId: newId() }
    return { ...this.#queued(invented, [forgery]), forgery }
  }

  #dispatchLater(queued: Queued, waitMs: number): void {
    if (waitMs === 0) {
      this.#dispatch(queued)
      return
    }
    this.#parts.clock.sleep(waitMs, this.#stopping.signal).then(
      () => this.#dispatch(queued),
      () => this.#settle(queued, 'unsent'),
    )
  }

  #dispatch(queued: Queued): void {
    void this.#queue.add(() => this.#attempt(queued))
  }

  async #attempt(queued: Queued): Promise<void> {
    if (this.#stopping.signal.aborted) {
      this.#settle(queued, 'unsent')
      return
    }
    const { clock, settings } = this.#parts
    const { event, delivery, forgery } = queued
    const { secret, headers } = this.webhook
    const nowMs = clock.now()
    const signing = { settings, secret, nowMs, deliveryId: delivery.id, ...(forgery ? { forgery } : {}) }
    const signed = signedRequest(event, signing)
    const result = await this.#post({ ...signed, headers: { ...headers, ...signed.headers } })
    delivery.attempts.push({ at: new Date(nowMs).toISOString(), ...result })
    const { status = 0 } = result
    if (status >= 200 && status < 300) this.#settle(queued, 'delivered')
    else if (forgery) this.#settle(queued, 'refused')
    else if (delivery.attempts.length >= settings.retry.attempts) this.#settle(queued, 'failed')
    else this.#dispatchLater(queued, this.#backoffMs(delivery))
  }

  async #post({ headers, body }: SignedRequest): Promise<Pick<Attempt, 'status' | 'error'>> {
    const signal = AbortSignal.timeout(this.#parts.settings.timeoutMs)
    try {
      const sent = { method: 'POST', headers, body, signal, dispatcher: this.#agent } as const
      const answer = await request(this.webhook.url, sent)
      // The status is the answer: a body that breaks off changes nothing.
      await answer.body.dump().catch(() => undefined)
      return { status: answer.statusCode }
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      return { error: signal.aborted ? 'timeout' : typeof code === 'string' ? code : 'closed' }
    }
  }

  #backoffMs({ id, attempts }: OpenDelivery): number {
    const { firstMs, factor } = this.#parts.settings.retry
    const draw = namedRng(this.#parts.seed, `retry ${id} ${attempts.length}`)()
    return Math.ceil(firstMs * factor ** (attempts.length - 1) * (0.8 + 0.4 * draw))
  }

  #settle({ delivery }: Queued, outcome: OpenDelivery['outcome']): void {
    delivery.outcome = outcome
    this.#open -= 1
    for (const waiter of this.#waiters) {
      if (this.#open >= waiter.limit) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }
}
