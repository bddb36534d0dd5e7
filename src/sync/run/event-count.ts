/** What reads for events have taken of the day, and how much the next one may take. */
import type { Budget } from '../../api/budget/budget.ts'
import { eventsPerDay, readLimit } from '../../api/budget/event-share.ts'
import { defaultPerDay } from '../../api/client/key.ts'
import type { Clock } from '../../lib/clock.ts'
import { utcDay } from '../../lib/dates.ts'
import { eventRequests, recordEventRequests } from '../../state/requests/event-requests.ts'
import type { Engine } from '../../warehouse/engine.ts'

/** Counts what is sent for events where no other process uses the key; elsewhere that is counted with each request. */
export interface EventCount {
  /** Before a read: if its process dies, all that it might have sent counts. */
  reserve(engine: Engine, requests: number): Promise<void>
  record(engine: Engine): Promise<void>
  /** When nothing more is sent. */
  settle(engine: Engine): Promise<void>
}

const nothing = async (): Promise<void> => undefined

export const countedElsewhere: EventCount = { reserve: nothing, record: nothing, settle: nothing }

export const dayOf = (clock: Clock): string => utcDay(new Date(clock.now()).toISOString())

export function eventCount(budget: Budget, keyId: string, clock: Clock): EventCount {
  let [least, recorded] = [0, budget.usage().forEventsToday]
  const record = async (engine: Engine): Promise<void> => {
    const requests = Math.max(least, budget.usage().forEventsToday)
    if (requests === recorded) return
    await recordEventRequests(engine, { keyId, day: dayOf(clock), requests })
    recorded = requests
  }
  return {
    reserve(engine, requests) {
      least = budget.usage().forEventsToday + requests
      return record(engine)
    },
    record,
    settle(engine) {
      least = 0
      return record(engine)
    },
  }
}

interface NextRead {
  readonly keyId: string
  readonly clock: Clock
  /** Reads in a row that found few of their records. */
  readonly emptyReads: number
}

/** The most requests that the next read for events may send; 0 when their share of the day is used up. */
export async function nextReadLimit(engine: Engine, { keyId, clock, emptyReads }: NextRead): Promise<number> {
  const { spent, perDay = defaultPerDay } = await eventRequests(engine, { keyId, day: dayOf(clock) })
  return readLimit(eventsPerDay(perDay) - spent, emptyReads)
}
