/** Limits requests to at most `cap` in any rolling minute of the service's clock. */
import { EventEmitter, once } from 'node:events'
import { type Clock, elapsedOf } from '../../lib/clock.ts'

/** Call once, when a request was answered or given up and can no longer reach the service. */
export type RequestRelease = () => void

/** Limits when requests may start. */
export interface MinuteWindow {
  /** Resolves when one request may start, first come, first served; rejects when the signal aborts. */
  take(signal?: AbortSignal): Promise<RequestRelease>
  /** Sets the requests per window; requests of the last window still count. */
  resize(cap: number): void
}

interface WindowOptions {
  readonly clock: Clock
  readonly cap: number
  /** Requests of the last minute by an earlier process. Their times are unknown, so they count as answered now. */
  readonly recent?: number
  /** Milliseconds; tests use a short one. */
  readonly window?: number
}

/** A clock that is being adjusted runs up to 500 ppm faster or slower, so ours may run ahead of the service's. */
const drift = 0.0005

export function createMinuteWindow(options: WindowOptions): MinuteWindow {
  return new RollingWindow(options)
}

/**
 * A request reaches the service after it starts and before it is answered. So a request that starts a minute after another's
 * answer arrives at least a minute later, whatever the network delays. A request without an answer still counts.
 */
class RollingWindow implements MinuteWindow {
  readonly #clock: Clock
  readonly #window: number
  readonly #ends = new EventEmitter()
  #underWay = 0
  /** Ends of requests within the last window, in order, on the `elapsed` of the clock. */
  #ended: number[]
  #cap: number
  #last: Promise<unknown> = Promise.resolve()

  constructor({ clock, cap, recent = 0, window = 60_000 }: WindowOptions) {
    this.#clock = clock
    this.#window = Math.ceil(window * (1 + drift))
    this.#ended = Array.from({ length: recent }, () => elapsedOf(clock))
    this.#cap = cap
  }

  take(signal?: AbortSignal): Promise<RequestRelease> {
    const taken = this.#last.then(() => this.#wait(signal))
    // The next caller only waits until this one has its slot or has given up.
    this.#last = taken.catch(() => undefined)
    return taken
  }

  resize(cap: number): void {
    this.#cap = cap
  }

  async #wait(signal: AbortSignal | undefined): Promise<RequestRelease> {
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

  /** Milliseconds to wait, at most one window, even after the clock was set back. Undefined: wait until another request ends. */
  #untilFree(): number | undefined {
    const now = elapsedOf(this.#clock)
    this.#ended = this.#ended.filter(at => now - at < this.#window)
    const mustLeave = this.#underWay + this.#ended.length - this.#cap
    if (mustLeave < 0) return 0
    const leaver = this.#ended[mustLeave]
    return leaver === undefined ? undefined : Math.min(leaver + this.#window - now, this.#window)
  }
}
