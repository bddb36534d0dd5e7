/** Ctrl-C and a scheduler's TERM: the first asks to stop cleanly, the second kills. */
import { MusterError } from '../lib/errors.ts'

/** The reason that waits and requests are rejected with once somebody asked to stop. */
class StopRequested extends MusterError {
  override readonly exitCode = 75

  constructor(signal: string) {
    super({ what: `stopped by ${signal}`, next: 'what was read is kept, run the command again to go on' })
  }
}

const stopSignals = ['SIGINT', 'SIGTERM'] as const

export function stopSignal(): AbortSignal {
  const controller = new AbortController()
  const stop = (signal: NodeJS.Signals) => {
    // Without a listener the next signal ends the process, as it does by default.
    for (const name of stopSignals) process.off(name, stop)
    controller.abort(new StopRequested(signal))
  }
  for (const name of stopSignals) process.on(name, stop)
  return controller.signal
}
