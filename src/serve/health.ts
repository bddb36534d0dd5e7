/** Builds the answer of `/health`, with counts and times only, and the metrics of the process that no ledger has. */

import type { Room } from '../events/room.ts'
import type { Pending } from '../events/store.ts'
import { type OwnReading, serveFigures } from '../telemetry/prometheus.ts'
import type { DeliveryCounters } from './counters.ts'
import type { InboxState } from './inbox-worker.ts'
import type { DueRun, Scheduler } from './schedule.ts'

interface HealthParts {
  readonly version: string
  readonly startedAt: string
  readonly inbox: InboxState
  /** Events in the log beside a file, waiting while a command has the file open. */
  readonly stored: Pending
  readonly room: Pick<Room, 'stored' | 'bounds'>
  readonly counters: DeliveryCounters
  readonly due: readonly DueRun[]
  readonly nowMs: number
}

/** Not well if the latest verified event could not be stored: senders should not rely on this process then. */
export function healthOf({ version, startedAt, inbox, stored, room, counters, due, nowMs }: HealthParts) {
  const { waiting, lastSync } = inbox
  const isWell = counters.isStoring()
  const oldest = waiting.oldest ?? stored.oldest
  const { taken, failed, refused, lastTakenAt } = counters.counts()
  return {
    isWell,
    body: {
      status: isWell ? 'ok' : 'events cannot be stored',
      version,
      startedAt,
      lastSync,
      inbox: {
        /** Events whose record has not been read yet, and how long the oldest has waited. */
        depth: waiting.events + stored.events,
        lagSeconds: oldest === null ? 0 : Math.max(0, Math.round((nowMs - Date.parse(oldest)) / 1000)),
        lists: waiting.lists,
        records: waiting.records,
        /** Events stored, including settled ones, and the limit. */
        stored: room.stored,
        max: room.bounds,
      },
      events: { taken, failed, refused, lastTakenAt },
      due,
    },
  }
}

export function figuresOf(
  counters: DeliveryCounters,
  scheduler: Pick<Scheduler, 'due'>,
): readonly OwnReading[] {
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
