/** Lets signals, timers and sockets have their turn in the middle of a long computation. */
import { setImmediate } from 'node:timers/promises'
import { systemClock } from '../../lib/clock.ts'

/** Milliseconds in which nothing else happens. */
const longest = 100

export class Pause {
  #since = systemClock.now()

  /** To be asked after each small piece of the work. */
  get isDue(): boolean {
    return systemClock.now() - this.#since > longest
  }

  async take(): Promise<void> {
    await setImmediate()
    this.#since = systemClock.now()
  }
}
