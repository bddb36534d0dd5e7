/** The answer of `/health`: counts and times only, nothing about people or records. */

import type { Room } from '../../events/room.ts'
import type { Pending } from '../../events/store.ts'
import type { Counters } from '../counters.ts'
import type { InboxState } from '../inbox-worker.ts'
import type { Due } from '../schedule.ts'

interface HealthParts {
  readonly version: string
  readonly startedAt: string
  readonly inbox: InboxState
  /** Events in the log beside a file, while a command has the file open. */
  readonly stored: Pending
  readonly room: Pick<Room, 'stored' | 'bounds'>
  readonly counters: Counters
  readonly due: readonly Due[]
  readonly nowMs: number
}

/** Not well when the latest genuine event could not be stored: senders should then not rely on this process. */
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
        /** Events whose record was not read yet, and how long the oldest has waited. */
        depth: waiting.events + stored.events,
        lagSeconds: oldest === null ? 0 : Math.max(0, Math.round((nowMs - Date.parse(oldest)) / 1000)),
        lists: waiting.lists,
        records: waiting.records,
        /** What is stored, settled events included, and what may be. */
        stored: room.stored,
        most: room.bounds,
      },
      events: { taken, failed, refused, lastTakenAt },
      due,
    },
  }
}
