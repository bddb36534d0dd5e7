/** Lets signals, timers and sockets run during a long computation. */
import { setImmediate } from 'node:timers/promises'
import { elapsedOf, systemClock } from './clock.ts'

/** Max milliseconds without letting anything else run. */
const longest = 100

export class LoopPause {
  readonly #signal: AbortSignal | undefined
  #since = elapsedOf(systemClock)

  /** With a signal, `take` throws its reason once it is aborted. */
  constructor(signal?: AbortSignal) {
    this.#signal = signal
  }

  /** Check this after each small piece of work. */
  get isDue(): boolean {
    return elapsedOf(systemClock) - this.#since > longest
  }

  async take(): Promise<void> {
    await setImmediate()
    this.#signal?.throwIfAborted()
    this.#since = elapsedOf(systemClock)
  }
}
