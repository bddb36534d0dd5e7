/** Handles a signal to stop: work ends where it can be resumed, and the process within five seconds. */
import { MusterError } from '../lib/errors.ts'
import { interruptAll } from '../warehouse/turns.ts'

/** The error that rejects waits and requests after a signal to stop. */
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
 * When running statements are interrupted, in milliseconds after the signal; until then they may finish. The later times are
 * for cleanup statements that hang.
 */
const interrupts = [1500, 2500, 3300]
/** When the process exits regardless, in milliseconds after the signal. */
const leaveAfter = 4000
/** How long notifications and lineage events may take, in milliseconds after the signal. */
export const lastWordsMs = 1000

/**
 * Aborts at the first SIGINT or SIGTERM; the second one ends the process at once. Calls `leave` if work has not ended in time.
 */
export function stopSignal(leave: (reason: MusterError) => void): AbortSignal {
  const controller = new AbortController()
  const stop = (signal: NodeJS.Signals) => {
    // Without a listener, the next signal ends the process by default. Removed only after all listeners have run: a prompt that
    // finds itself the only listener would end the process.
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

/** Aborts `ms` after `signal` does: gives a stopped command a little time for its last notifications. */
export function soonAfter(signal: AbortSignal, ms: number): AbortSignal {
  const controller = new AbortController()
  const wait = (): void => void setTimeout(() => controller.abort(signal.reason), ms).unref()
  if (signal.aborted) wait()
  else signal.addEventListener('abort', wait, { once: true })
  return controller.signal
}
