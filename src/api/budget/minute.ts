/** At most `cap` requests in any rolling minute. */
import PQueue from 'p-queue'
import type { Clock } from '../../lib/clock.ts'

/** A limiter of starts. Simulations on a virtual clock bring their own, as p-queue reads the wall clock. */
export interface MinuteWindow {
  /** Resolves when one request may start; rejects when the signal aborts. */
  take(signal?: AbortSignal): Promise<void>
  /** Sets the requests per window; those of the last window stay charged. */
  resize(cap: number): void
}

interface WindowOptions {
  readonly clock: Clock
  readonly cap: number
  /** Requests of the last minute by an earlier process; their times are unknown, so they count as if made now. */
  readonly recent?: number
  /** Milliseconds; the tests use a short one. */
  readonly window?: number
}

/**
 * p-queue compares whole milliseconds, so a slot is free up to one millisecond early, and the delay until a request
 * reaches the service varies. Measured with cap 20 in 500 ms: 21 arrived without padding.
 */
const padding = 1.03

export function createMinuteWindow(options: WindowOptions): MinuteWindow {
  return new RollingWindow(options)
}

class RollingWindow implements MinuteWindow {
  readonly #clock: Clock
  readonly #window: number
  /** Starts within the last window; p-queue keeps its own but does not show them, and a resize needs them. */
  #starts: number[]
  #cap: number
  #queue: PQueue

  constructor({ clock, cap, recent = 0, window = 60_000 }: WindowOptions) {
    this.#clock = clock
    this.#window = Math.ceil(window * padding)
    this.#starts = Array.from({ length: recent }, () => clock.now())
    this.#cap = cap
    this.#queue = this.#charged()
  }

  async take(signal?: AbortSignal): Promise<void> {
    // A slot of a queue that was replaced meanwhile does not count.
    for (let queue: PQueue | undefined; queue !== this.#queue; ) {
      queue = this.#queue
      await queue.add(noRequest, { signal })
    }
    this.#starts.push(this.#clock.now())
    this.#forget()
  }

  resize(cap: number): void {
    if (cap === this.#cap) return
    this.#cap = cap
    this.#forget()
    this.#queue = this.#charged()
  }

  #forget(): void {
    const now = this.#clock.now()
    const kept = this.#starts.findIndex(start => now - start < this.#window)
    this.#starts = kept === -1 ? [] : this.#starts.slice(kept)
  }

  /** A queue in which every start of the last window has taken a slot; more than `cap` would wait a window each. */
  #charged(): PQueue {
    const queue = new PQueue({ strict: true, intervalCap: this.#cap, interval: this.#window })
    const taken = Math.min(this.#starts.length, this.#cap)
    for (let index = 0; index < taken; index++) void queue.add(noRequest)
    return queue
  }
}

async function noRequest(): Promise<void> {}
