/** What `/health` says: counts and times, of nobody and of no record. */
import type { Pending } from '../../events/store.ts'
import type { Tally } from '../counters.ts'
import type { UpkeepState } from '../inbox-worker.ts'
import type { Due } from '../schedule.ts'

interface HealthParts {
  readonly version: string
  readonly startedAt: string
  readonly upkeep: UpkeepState
  /** In the log beside a file, while a command has it. */
  readonly stored: Pending
  readonly tally: Tally
  readonly due: readonly Due[]
  readonly nowMs: number
}

/** Not well when the latest genuine event could not be stored: whoever sends it should not rely on this process. */
export function healthOf({ version, startedAt, upkeep, stored, tally, due, nowMs }: HealthParts) {
  const { waiting, lastSync } = upkeep
  const isWell = tally.isStoring()
  const oldest = waiting.oldest ?? stored.oldest
  const { taken, failed, refused, lastTakenAt } = tally.counts()
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
      },
      events: { taken, failed, refused, lastTakenAt },
      due,
    },
  }
}
