/** What a use case gets from its caller besides its arguments: time, randomness, the signal to stop, a way to tell people. */
import type { Clock } from '../lib/clock.ts'
import type { Rng } from '../lib/rng.ts'

export interface Surroundings {
  readonly clock: Clock
  /** For jitter and run ids only. */
  readonly rng: Rng
  /** Aborted when somebody asks to stop. */
  readonly signal: AbortSignal
  /** Milliseconds that somebody is ready to wait, for a held warehouse or a service that is not reached. */
  waitMs?(): number
}

export interface Notices {
  /** Shows one line to people, unless they asked for quiet. */
  notice(line: string): void
}
