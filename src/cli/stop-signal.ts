/** What a signal to stop does: work ends where it can be taken up again, and within five seconds whatever is under way. */
import { MusterError } from '../lib/errors.ts'
import { interruptAll } from '../warehouse/under-way.ts'

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

/**
 * After the signal, in milliseconds: statements under way may end by themselves before they are interrupted. What tidies up
 * after them gets as long, and is interrupted too when it hangs.
 */
const interrupts = [1500, 2500, 3300]
/** What did not end by then would leave no time for the process to end. */
const leaveAfter = 4000
/** After the signal: what others are told of the end must be on its way by then. */
export const lastWordsMs = 1000

/**
 * Aborted by the first Ctrl-C or TERM of a scheduler; the second one ends the process at once. `leave` ends it as well, when
 * its work has not ended in time.
 */
export function stopSignal(leave: (reason: MusterError) => void): AbortSignal {
  const controller = new AbortController()
  const stop = (signal: NodeJS.Signals) => {
    // Without a listener the next signal ends the process, as it does by default. Not before all have heard this one: what asks
    // questions would end the process when it finds itself the only one that listens.
    setImmediate(() => {
      for (const name of stopSignals) process.off(name, stop)
    })
    const reason = new StopRequested(signal)
    controller.abort(reason)
    for (const after of interrupts) setTimeout(interruptAll, after).unref()
    setTimeout(leave, leaveAfter, reason).unref()
  }
  for (const name of stopSignals) process.on(name, stop)
  return controller.signal
}
