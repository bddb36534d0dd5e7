/** The latest deliveries with their attempts, for people and tests. The log holds no secret and no address. */
import type { EventType } from '../../contract/events.ts'
import type { Forgery } from './event-faults.ts'

/** What a fault did to a delivery. */
export type Treatment = 'duplicated' | 'reordered' | 'delayed' | 'lost' | Forgery

export interface Attempt {
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
  /** `id` of the body; a duplicate has the same, a forgery one of its own. */
  readonly eventId: string
  readonly type: EventType
  readonly recordId: string
  readonly treatments: readonly Treatment[]
  readonly attempts: readonly Attempt[]
  /**
   * Delivered: answered 2xx, forged or not. Failed: given up. Refused: a forgery, as it should be. Unsent: still
   * waiting when the sandbox was closed.
   */
  readonly outcome: 'waiting' | 'delivered' | 'failed' | 'refused' | 'lost' | 'unsent'
}

export interface OpenDelivery extends Delivery {
  readonly attempts: Attempt[]
  outcome: Delivery['outcome']
}

export class DeliveryLog {
  readonly #size: number
  readonly #kept: OpenDelivery[] = []

  constructor(size: number) {
    this.#size = size
  }

  add(delivery: OpenDelivery): void {
    this.#kept.push(delivery)
    // By halves: dropping the first of a long list at each addition would move all the others.
    if (this.#kept.length >= this.#size * 2) this.#kept.splice(0, this.#kept.length - this.#size)
  }

  /** The latest ones, oldest first. */
  list(): readonly Delivery[] {
    return this.#kept.slice(-this.#size)
  }
}
