/** Decides how long to try a host that accepts no connection: a few seconds for a wrong address, longer on request. */
import { type Clock, elapsedOf } from '../../lib/clock.ts'
import { counted } from '../../lib/counted.ts'
import type { RetriableError } from './errors.ts'

/** The attempts of one request. */
export interface Attempts {
  /** Number of attempts so far. */
  readonly attempt: number
  /** Start of the first, on the `elapsed` of the clock. */
  readonly since: number
}

/** Milliseconds after which the failure is reported, and given up without a reason to wait. */
const soonMs = 5_000

/** Min milliseconds between attempts, as a refusal comes at once. */
const minPauseMs = 500

interface ReachOptions {
  readonly clock: Clock
  readonly patienceMs?: number | undefined
  readonly onUnreached?: ((sentence: string) => void) | undefined
}

export class Reach {
  readonly #patience: ReachOptions
  #isAnswered = false
  #isReported = false

  constructor(patience: ReachOptions) {
    this.#patience = patience
  }

  answered(): void {
    this.#isAnswered = true
    this.#isReported = false
  }

  /**
   * The earliest and latest time of the next attempt. Undefined if the normal max of attempts applies, as the service has
   * answered before and may be restarting. Throws when the time is over.
   */
  failed(error: RetriableError, { attempt, since }: Attempts): readonly [number, number] | undefined {
    const { clock, patienceMs = 0, onUnreached } = this.#patience
    const hasAttemptLimit = this.#isAnswered && patienceMs <= soonMs
    const longest = Math.max(patienceMs, soonMs)
    const now = elapsedOf(clock)
    const passed = now - since
    const tried = `tried ${counted(attempt, 'time')} in ${Math.max(1, Math.round(passed / 1000))} s`
    if (passed >= longest && !hasAttemptLimit) throw error.final(tried, '; --wait 10m keeps trying')
    if (passed >= soonMs && !this.#isReported) {
      this.#isReported = true
      onUnreached?.(`${error.report.what}, ${tried}; trying again`)
    }
    if (hasAttemptLimit) return undefined
    return [now + minPauseMs, since + (passed < soonMs ? soonMs : longest)]
  }
}
