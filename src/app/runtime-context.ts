/** Declares what a use case gets from its caller besides arguments: clock, randomness, signal to stop, notices. */
import type { Clock } from '../lib/clock.ts'
import type { Rng } from '../lib/rng.ts'

export interface RuntimeContext {
  readonly clock: Clock
  /** For jitter and run ids only. */
  readonly rng: Rng
  /** Aborted by a signal to stop. */
  readonly signal: AbortSignal
  /** Milliseconds to wait for a locked warehouse or an unreachable service. */
  waitMs?(): number
}

export interface NoticeOutput {
  /** Shows one line to the user, unless --quiet was given. */
  notice(line: string): void
}
