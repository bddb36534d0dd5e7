/** How long a host that accepts no connection is tried. A wrong address is told soon; who asked to wait for the service waits. */
import { type Clock, elapsedOf } from '../../lib/clock.ts'
import { counted } from '../../lib/counted.ts'
import type { Retriable } from './errors.ts'

/** The sendings of one request. */
export interface Attempts {
  /** How many there were. */
  readonly attempt: number
  /** When the first began, on the `elapsed` of the clock. */
  readonly since: number
}

/** Milliseconds after which it is told, and given up unless there is a reason to wait. */
const soonMs = 5_000

/** A host that refuses does so at once: more often would be noise. */
const leastPauseMs = 500

interface Patience {
  readonly clock: Clock
  readonly patienceMs?: number | undefined
  readonly onUnreached?: ((sentence: string) => void) | undefined
}

export class Reach {
  readonly #patience: Patience
  #isAnswered = false
  #isTold = false

  constructor(patience: Patience) {
    this.#patience = patience
  }

  answered(): void {
    this.#isAnswered = true
    this.#isTold = false
  }

  /**
   * The earliest and latest moment of the next attempt. Undefined where the usual number of attempts decides: the service answered before
   * and may only be restarting. Throws when the time is over.
   */
  failed(error: Retriable, { attempt, since }: Attempts): readonly [number, number] | undefined {
    const { clock, patienceMs = 0, onUnreached } = this.#patience
    const isUsual = this.#isAnswered && patienceMs <= soonMs
    const longest = Math.max(patienceMs, soonMs)
    const now = elapsedOf(clock)
    const passed = now - since
    const tried = `tried ${counted(attempt, 'time')} in ${Math.max(1, Math.round(passed / 1000))} s`
    if (passed >= longest && !isUsual) throw error.final(tried, '; --wait 10m keeps trying')
    if (passed >= soonMs && !this.#isTold) {
      this.#isTold = true
      onUnreached?.(`${error.report.what}, ${tried}; trying again`)
    }
    if (isUsual) return undefined
    return [now + leastPauseMs, since + (passed < soonMs ? soonMs : longest)]
  }
}
