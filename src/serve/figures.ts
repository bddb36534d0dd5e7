/** Figures of this process, which no ledger has. */
import { type OwnReading, serveFigures } from '../telemetry/prometheus/exposition.ts'
import type { Counters } from './counters.ts'
import type { Scheduler } from './schedule.ts'

export function figuresOf(counters: Counters, scheduler: Pick<Scheduler, 'due'>): readonly OwnReading[] {
  const { taken, failed, refused } = counters.counts()
  return [
    { figure: serveFigures.taken, labels: {}, value: taken },
    { figure: serveFigures.failed, labels: {}, value: failed },
    ...Object.entries(refused).map(([reason, value]) => {
      return { figure: serveFigures.refused, labels: { reason }, value }
    }),
    ...scheduler.due().map(({ dag, at }) => {
      return { figure: serveFigures.due, labels: { dag }, value: Date.parse(at) / 1000 }
    }),
  ]
}
