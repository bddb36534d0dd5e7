/** At most `cap` requests in any rolling minute of the service's clock. */
import { EventEmitter, once } from 'node:events'
import { type Clock, elapsedOf } from '../../lib/clock.ts'

/** To be called once: when a request was answered or given up, so that it cannot reach the service any more. */
export type Ended = () => void

/** A limiter of starts. */
export interface MinuteWindow {
  /** Resolves when one request may start, first come, first served; rejects when the signal aborts. */
  take(signal?: AbortSignal): Promise<Ended>
  /** Sets the requests per window; those of the last window stay charged. */
  resize(cap: number): void
}

interface WindowOptions {
  readonly clock: Clock
  readonly cap: number
  /** Requests of the last minute by an earlier process; their times are unknown, so they count as if answered now. */
  readonly recent?: number
  /** Milliseconds; the tests use a short one. */
  readonly window?: number
}

/** A clock that is being set right runs up to 500 millionths faster or slower: ours may be ahead of the service's. */
const drift = 0.0005

export function createMinuteWindow(options: WindowOptions): MinuteWindow {
  return new RollingWindow(options)
}

/**
 * A request reaches the service after it starts and before it is answered. So one that starts a minute after the answer to
 * another is at least a minute younger there, however long both were on their way; one without an answer stays charged.
 */
class RollingWindow implements MinuteWindow {
  readonly #clock: Clock
  readonly #window: number
  readonly #ends = new EventEmitter()
  #underWay = 0
  /** Ends within the last window, in order, on the `elapsed` of the clock. */
  #ended: number[]
  #cap: number
  #last: Promise<unknown> = Promise.resolve()

  constructor({ clock, cap, recent = 0, window = 60_000 }: WindowOptions) {
    this.#clock = clock
    this.#window = Math.ceil(window * (1 + drift))
    this.#ended = Array.from({ length: recent }, () => elapsedOf(clock))
    this.#cap = cap
  }

  take(signal?: AbortSignal): Promise<Ended> {
    const taken = this.#last.then(() => this.#wait(signal))
    // Whoever comes next only waits until this one has its slot or has given up.
    this.#last = taken.catch(() => undefined)
    return taken
  }

  resize(cap: number): void {
    this.#cap = cap
  }

  async #wait(signal: AbortSignal | undefined): Promise<Ended> {
    for (let ms = this.#untilFree(); ms !== 0; ms = this.#untilFree())
      await (ms === undefined
        ? once(this.#ends, 'ended', signal ? { signal } : {})
        : this.#clock.sleep(ms, signal))
    signal?.throwIfAborted()
    this.#underWay += 1
    return () => {
      this.#underWay -= 1
      this.#ended.push(elapsedOf(this.#clock))
      this.#ends.emit('ended')
    }
  }

  /** Milliseconds; never more than a window, even after the clock was set back. Undefined until one more has ended. */
  #untilFree(): number | undefined {
    const now = elapsedOf(this.#clock)
    this.#ended = this.#ended.filter(at => now - at < this.#window)
    const mustLeave = this.#underWay + this.#ended.length - this.#cap
    if (mustLeave < 0) return 0
    const leaver = this.#ended[mustLeave]
    return leaver === undefined ? undefined : Math.min(leaver + this.#window - now, this.#window)
  }
}
