/** How long a run has waited for requests to be allowed. Time in which several wait counts once. */
import { type Clock, elapsedOf } from '../../lib/clock.ts'

export interface Waiting {
  /** Milliseconds that this run has waited for requests to be allowed. */
  readonly waitedMs: number
  /** Whether one waits now. */
  readonly isWaiting: boolean
  /** Milliseconds since the epoch: the next request is sent no earlier, as far as this process knows. */
  readonly freeAt: number
}

export class Waits {
  readonly #clock: Clock
  #waiting = 0
  #since = 0
  #ms = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isAny(): boolean {
    return this.#waiting > 0
  }

  /** Milliseconds so far. */
  get ms(): number {
    return this.#ms + (this.#waiting > 0 ? Math.max(0, elapsedOf(this.#clock) - this.#since) : 0)
  }

  async during<Result>(wait: () => Promise<Result>): Promise<Result> {
    if (this.#waiting === 0) this.#since = elapsedOf(this.#clock)
    this.#waiting += 1
    try {
      return await wait()
    } finally {
      const ms = this.ms
      this.#waiting -= 1
      if (this.#waiting === 0) this.#ms = ms
    }
  }
}
