/** Lets signals, timers and sockets have their turn in the middle of a long computation. */
import { setImmediate } from 'node:timers/promises'
import { elapsedOf, systemClock } from '../clock.ts'

/** Milliseconds in which nothing else happens. */
const longest = 100

export class Pause {
  readonly #signal: AbortSignal | undefined
  #since = elapsedOf(systemClock)

  /** With a signal, `take` throws its reason once it is aborted. */
  constructor(signal?: AbortSignal) {
    this.#signal = signal
  }

  /** To be asked after each small piece of the work. */
  get isDue(): boolean {
    return elapsedOf(systemClock) - this.#since > longest
  }

  async take(): Promise<void> {
    await setImmediate()
    this.#signal?.throwIfAborted()
    this.#since = elapsedOf(systemClock)
  }
}
