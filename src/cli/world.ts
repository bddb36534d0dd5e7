/** What a command may touch outside itself: streams, environment, time, randomness and the wish to stop. */
import { type Environment, readEnvironment } from '../config/environment.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { namedRng, type Rng } from '../lib/rng.ts'
import { stopSignal } from './stop-signal.ts'

export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

export interface World {
  readonly env: Environment
  readonly cwd: string
  readonly stdout: Output
  readonly stderr: Output
  readonly clock: Clock
  /** For jitter only. */
  readonly rng: Rng
  /** Aborted when somebody asks to stop. */
  readonly signal: AbortSignal
}

export function systemWorld(): World {
  return {
    env: readEnvironment(),
    cwd: process.cwd(),
    stdout: process.stdout,
    stderr: process.stderr,
    clock: systemClock,
    rng: namedRng(systemClock.now(), String(process.pid)),
    signal: stopSignal(),
  }
}
