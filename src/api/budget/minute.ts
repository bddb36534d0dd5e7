/** At most `cap` requests in any rolling minute. */
import type { Clock } from '../../lib/clock.ts'

/** A limiter of starts. */
export interface MinuteWindow {
  /** Resolves when one request may start, first come, first served; rejects when the signal aborts. */
  take(signal?: AbortSignal): Promise<void>
  /** Sets the requests per window; those of the last window stay charged. */
  resize(cap: number): void
  /** Milliseconds since the epoch: when the next request may start; now or earlier where none has to wait. */
  freeAt(): number
}

interface WindowOptions {
  readonly clock: Clock
  readonly cap: number
  /** Requests of the last minute by an earlier process; their times are unknown, so they count as if made now. */
  readonly recent?: number
  /** Milliseconds; the tests use a short one. */
  readonly window?: number
}

/** The delay until a request reaches the service varies: two that start a minute apart can arrive closer to each other. */
const padding = 1.03

export function createMinuteWindow(options: WindowOptions): MinuteWindow {
  return new RollingWindow(options)
}

class RollingWindow implements MinuteWindow {
  readonly #clock: Clock
  readonly #window: number
  /** Starts within the last window, in order. */
  #starts: number[]
  #cap: number
  #last: Promise<unknown> = Promise.resolve()

  constructor({ clock, cap, recent = 0, window = 60_000 }: WindowOptions) {
    this.#clock = clock
    this.#window = Math.ceil(window * padding)
    this.#starts = Array.from({ length: recent }, () => clock.now())
    this.#cap = cap
  }

  take(signal?: AbortSignal): Promise<void> {
    const taken = this.#last.then(() => this.#wait(signal))
    // Whoever comes next only waits until this one has its slot or has given up.
    this.#last = taken.catch(() => undefined)
    return taken
  }

  resize(cap: number): void {
    this.#cap = cap
  }

  freeAt(): number {
    return this.#clock.now() + this.#untilFree()
  }

  async #wait(signal: AbortSignal | undefined): Promise<void> {
    for (let ms = this.#untilFree(); ms > 0; ms = this.#untilFree()) await this.#clock.sleep(ms, signal)
    signal?.throwIfAborted()
    this.#starts.push(this.#clock.now())
  }

  /** Milliseconds; never more than a window, even after the clock was set back. */
  #untilFree(): number {
    const now = this.#clock.now()
    this.#starts = this.#starts.filter(start => now - start < this.#window)
    const leaver = this.#starts[this.#starts.length - this.#cap]
    return leaver === undefined ? 0 : Math.min(leaver + this.#window - now, this.#window)
  }
}
