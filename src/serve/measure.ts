/** Measures the service's time, by which `muster serve` verifies and dates deliveries. */
import { sleepUnlessAborted } from '../lib/clock.ts'
import { minuteMs } from '../lib/dates.ts'
import { MusterError } from '../lib/errors.ts'
import type { ServiceClock } from '../lib/service-clock.ts'
import type { Engine } from '../warehouse/engine.ts'
import type { EngineHandle } from './engine-handle.ts'

interface MeasureEffects {
  readonly clock: ServiceClock
  readonly measure?: ((engine: Engine, clock: ServiceClock) => Promise<void>) | undefined
  readonly signal: AbortSignal
  readonly log: { warn(fields: object, text: string): void }
}

/** Interval of attempts. */
const measureMs = 10 * minuteMs

/** Measures at the start, and after the machine's clock was set or the machine slept. */
export async function keepMeasuring(
  handle: EngineHandle,
  { clock, measure, signal, log }: MeasureEffects,
): Promise<void> {
  let isAnswered = false
  while (measure && !signal.aborted) {
    // No further request to a service that reports no time.
    if (clock.isDoubtful && !isAnswered)
      try {
        await handle.use(engine => measure(engine, clock))
        isAnswered = clock.aheadMs === undefined
      } catch (error) {
        // The service or the warehouse is unreachable: try again later.
        if (!(error instanceof MusterError || signal.aborted)) throw error
        log.warn(
          { why: (error as Error).message },
          "the service's time is unknown: events are dated by this machine",
        )
      }
    await sleepUnlessAborted(clock, clock.isDoubtful ? measureMs : minuteMs, signal)
  }
}
