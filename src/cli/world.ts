/** The outside world of a command: streams, environment, time, randomness and the signal to stop. */
import { type Environment, readEnvironment } from '../config/environment.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { MusterError } from '../lib/errors.ts'
import { namedRng, type Rng } from '../lib/rng.ts'
import { type Output, systemStreams } from './terminal/terminal.ts'

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
    ...systemStreams(),
    clock: systemClock,
    rng: namedRng(systemClock.now(), String(process.pid)),
    signal: stopSignal(),
  }
}

/** The reason with which waits and requests are rejected after a signal to stop. */
class StopRequested extends MusterError {
  override readonly exitCode = 75

  constructor(signal: string) {
    super({
      what: `stopped by ${signal}`,
      next: 'everything read is kept; run the command again to continue',
    })
  }
}

const stopSignals = ['SIGINT', 'SIGTERM'] as const

/** Aborted by the first Ctrl-C or TERM of a scheduler; the second one ends the process. */
function stopSignal(): AbortSignal {
  const controller = new AbortController()
  const stop = (signal: NodeJS.Signals) => {
    // Without a listener the next signal ends the process, as it does by default.
    for (const name of stopSignals) process.off(name, stop)
    controller.abort(new StopRequested(signal))
  }
  for (const name of stopSignals) process.on(name, stop)
  return controller.signal
}
