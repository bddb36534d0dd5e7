/** The outside world of a command: streams, environment, time, randomness and the signal to stop. */
import { type Environment, readEnvironment } from '../config/environment.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { namedRng, type Rng } from '../lib/rng.ts'
import { type Output, systemStreams } from './terminal/terminal.ts'

export interface World {
  readonly env: Environment
  readonly cwd: string
  /** The words that started the program, for schedulers that start it again. */
  readonly startedAs: readonly string[]
  /** Undefined where nobody can answer. */
  readonly stdin?: () => NodeJS.ReadStream
  /** The terminal, for questions and displays that redraw their own lines; undefined where stdout is none. */
  readonly screen?: NodeJS.WritableStream
  readonly stdout: Output
  readonly stderr: Output
  readonly clock: Clock
  /** For jitter only. */
  readonly rng: Rng
  /** Aborted when somebody asks to stop. */
  readonly signal: AbortSignal
}

export function systemWorld(signal: AbortSignal): World {
  return {
    env: readEnvironment(),
    cwd: process.cwd(),
    startedAs: [process.execPath, process.argv[1] ?? ''],
    ...systemStreams(),
    clock: systemClock,
    rng: namedRng(systemClock.now(), String(process.pid)),
    signal,
  }
}
