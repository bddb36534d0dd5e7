/** Keeps the service's time known to a process that serves: deliveries are judged and dated by it. */
import { sleepUnlessAborted } from '../lib/clock.ts'
import { minuteMs } from '../lib/dates.ts'
import { MusterError } from '../lib/errors.ts'
import type { ServiceClock } from '../lib/time/service-clock.ts'
import type { Engine } from '../warehouse/engine.ts'
import type { EngineHandle } from './engine-handle.ts'

interface MeasureEffects {
  readonly clock: ServiceClock
  readonly measure?: ((engine: Engine, clock: ServiceClock) => Promise<void>) | undefined
  readonly signal: AbortSignal
  readonly log: { warn(fields: object, text: string): void }
}

/** From one attempt to the next. */
const measureMs = 10 * minuteMs

/** At the start, and after the clock of the machine was set or the machine slept. */
export async function keepMeasuring(
  handle: EngineHandle,
  { clock, measure, signal, log }: MeasureEffects,
): Promise<void> {
  let isAnswered = false
  while (measure && !signal.aborted) {
    // A service that says no time would be asked for nothing.
    if (clock.isDoubtful && !isAnswered)
      try {
        await handle.use(engine => measure(engine, clock))
        isAnswered = clock.aheadMs === undefined
      } catch (error) {
        // The service, or the warehouse, is out of reach: it is tried again.
        if (!(error instanceof MusterError || signal.aborted)) throw error
        log.warn(
          { why: (error as Error).message },
          "the service's time is unknown: events are dated by this machine",
        )
      }
    await sleepUnlessAborted(clock, clock.isDoubtful ? measureMs : minuteMs, signal)
  }
}
