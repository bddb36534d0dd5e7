/** Delivers events to one webhook, at least once and a few at a time; retries after a failure, and logs each outcome. */
import { createHmac } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import PQueue from 'p-queue'
import { Agent, request } from 'undici'
import { type EventType, eventRule, payloadKeys } from '../../contract/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { namedRng } from '../../lib/rng.ts'
import type { EventSettings, Webhook } from './webhook.ts'

interface Attempt {
  /** ISO 8601, UTC. */
  readonly at: string
  readonly status?: number
  /** Why there is no status: `timeout`, or the code of a network error. */
  readonly error?: string
}

export interface Delivery {
  /** The event-id header: one a delivery, the same at each attempt. */
  readonly id: string
  /** Name of the webhook. */
  readonly webhook: string
  /** `id` of the body. */
  readonly eventId: string
  readonly type: EventType
  readonly recordId: string
  readonly attempts: readonly Attempt[]
  /** Delivered: answered 2xx. Failed: given up. Unsent: still waiting when the sandbox was closed. */
  readonly outcome: 'waiting' | 'delivered' | 'failed' | 'unsent'
}

interface OpenDelivery extends Delivery {
  readonly attempts: Attempt[]
  outcome: Delivery['outcome']
}

interface QueueParts {
  readonly settings: EventSettings
  readonly seed: number
  readonly clock: Clock
  /** The latest deliveries, oldest first. */
  readonly log: Delivery[]
  /** New ids, the same at every run. */
  readonly newId: (prefix?: 'evt' | 'dlv') => string
}

interface QueuedDelivery {
  readonly event: ServiceEvent
  readonly delivery: OpenDelivery
}

/** Attempts under way when the sandbox closes may take this long to end. */
const graceMs = 500

export class DeliveryQueue {
  readonly webhook: Webhook
  readonly #parts: QueueParts
  readonly #queue: PQueue
  readonly #agent: Agent
  readonly #stopping = new AbortController()
  readonly #waiters = new Set<{ readonly limit: number; readonly resolve: () => void }>()
  #open = 0

  constructor(webhook: Webhook, parts: QueueParts) {
    const { concurrency } = parts.settings
    this.webhook = webhook
    this.#parts = parts
    this.#queue = new PQueue({ concurrency })
    this.#agent = new Agent({ connections: concurrency })
    // Each waiting delivery has one listener, so thousands are not a leak.
    setMaxListeners(0, this.#stopping.signal)
  }

  add(event: ServiceEvent): void {
    if (this.#stopping.signal.aborted) return
    const delivery: OpenDelivery = {
      id: this.#parts.newId('dlv'),
      webhook: this.webhook.name,
      eventId: event.id,
      type: event.type,
      recordId: event.recordId,
      attempts: [],
      outcome: 'waiting',
    }
    const { log, settings } = this.#parts
    log.push(delivery)
    // Drops half of the log at once: dropping one entry at each addition would move all the others.
    if (log.length >= settings.logSize * 2) log.splice(0, settings.logSize)
    this.#open += 1
    this.#dispatch({ event, delivery })
  }

  /** Resolves when fewer than `limit` deliveries are unsettled, including those that wait for a retry. */
  below(limit: number): Promise<void> {
    if (this.#open < limit) return Promise.resolve()
    return new Promise(resolve => this.#waiters.add({ limit, resolve }))
  }

  /** Waiting deliveries stay unsent; attempts under way have `graceMs` to end. */
  async close(): Promise<void> {
    this.#stopping.abort()
    const settled = new AbortController()
    const ended = this.below(1).then(() => settled.abort())
    // Rejects when the last attempt ends first.
    await this.#parts.clock.sleep(graceMs, settled.signal).catch(() => undefined)
    await this.#agent.destroy()
    await ended
  }

  #dispatch(queued: QueuedDelivery): void {
    void this.#queue.add(() => this.#attempt(queued))
  }

  #dispatchLater(queued: QueuedDelivery, waitMs: number): void {
    this.#parts.clock.sleep(waitMs, this.#stopping.signal).then(
      () => this.#dispatch(queued),
      () => this.#settle(queued, 'unsent'),
    )
  }

  async #attempt(queued: QueuedDelivery): Promise<void> {
    if (this.#stopping.signal.aborted) {
      this.#settle(queued, 'unsent')
      return
    }
    const { clock, settings } = this.#parts
    const { event, delivery } = queued
    const { secret, headers } = this.webhook
    const nowMs = clock.now()
    const signed = signedRequest(event, { settings, secret, nowMs, deliveryId: delivery.id })
    const result = await this.#post({ ...signed, headers: { ...headers, ...signed.headers } })
    delivery.attempts.push({ at: new Date(nowMs).toISOString(), ...result })
    const { status = 0 } = result
    if (status >= 200 && status < 300) this.#settle(queued, 'delivered')
    else if (delivery.attempts.length >= settings.retry.attempts) this.#settle(queued, 'failed')
    else this.#dispatchLater(queued, this.#backoffMs(delivery))
  }

  async #post({ headers, body }: SignedRequest): Promise<Pick<Attempt, 'status' | 'error'>> {
    const signal = AbortSignal.timeout(this.#parts.settings.timeoutMs)
    try {
      const sent = { method: 'POST', headers, body, signal, dispatcher: this.#agent } as const
      const answer = await request(this.webhook.url, sent)
      // Only the status counts, even if the body breaks off.
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

  #settle({ delivery }: QueuedDelivery, outcome: OpenDelivery['outcome']): void {
    delivery.outcome = outcome
    this.#open -= 1
    for (const waiter of this.#waiters) {
      if (this.#open >= waiter.limit) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
  }
}

export interface ServiceEvent {
  readonly id: string
  readonly type: EventType
  /** When it happened; ISO 8601, UTC. */
  readonly createdAt: string
  readonly recordId: string
}

interface SigningContext {
  readonly settings: EventSettings
  readonly secret: string
  /** Time of this attempt; each attempt has its own signature. */
  readonly nowMs: number
  readonly deliveryId: string
}

interface SignedRequest {
  readonly body: Buffer
  readonly headers: Record<string, string>
}

export function signedRequest(event: ServiceEvent, signing: SigningContext): SignedRequest {
  const { settings, secret, nowMs, deliveryId } = signing
  const { headerPrefix } = settings
  const timestamp = timestampText(nowMs, settings.timestamp)
  const body = bodyOf(event)
  const digest = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest(settings.encoding)
  const headers = {
    'Content-Type': 'application/json',
    [`${headerPrefix}-Event`]: event.type,
    [`${headerPrefix}-Event-Id`]: deliveryId,
    [`${headerPrefix}-Signature`]: settings.signaturePrefix + digest,
    [`${headerPrefix}-Timestamp`]: timestamp,
  }
  return { headers, body }
}

function bodyOf(event: ServiceEvent): Buffer {
  const { id, type, createdAt, recordId } = event
  const data = { [payloadKeys[eventRule(type).entity]]: { id: recordId } }
  return Buffer.from(JSON.stringify({ id, type, createdAt, data }))
}

function timestampText(ms: number, format: EventSettings['timestamp']): string {
  if (format === 'iso') return new Date(ms).toISOString()
  return String(format === 'seconds' ? Math.floor(ms / 1000) : ms)
}
