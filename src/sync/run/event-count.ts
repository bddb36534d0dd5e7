/** Counts the requests spent on events today, and limits the next read. */
import type { Budget } from '../../api/budget/budget.ts'
import { eventsPerDay, readLimit } from '../../api/budget/day.ts'
import { defaultPerDay } from '../../api/client/key.ts'
import type { Clock } from '../../lib/clock.ts'
import { utcDay } from '../../lib/dates.ts'
import { eventRequests, recordEventRequests } from '../../state/requests/event-requests.ts'
import type { Engine } from '../../warehouse/engine.ts'

/** Counts requests for events if no other process uses the key; otherwise the server counts each request. */
export interface EventCount {
  /** Call before a read: if the process dies, all requests that it might have sent count. */
  reserve(engine: Engine, requests: number): Promise<void>
  record(engine: Engine): Promise<void>
  /** Call when nothing more will be sent. */
  settle(engine: Engine): Promise<void>
}

const nothing = async (): Promise<void> => undefined

export const countedElsewhere: EventCount = { reserve: nothing, record: nothing, settle: nothing }

export const dayOf = (clock: Clock): string => utcDay(new Date(clock.now()).toISOString())

export function eventCount(budget: Budget, keyId: string, clock: Clock): EventCount {
  let [reserved, recorded] = [0, budget.usage().forEventsToday]
  const record = async (engine: Engine): Promise<void> => {
    const requests = Math.max(reserved, budget.usage().forEventsToday)
    if (requests === recorded) return
    await recordEventRequests(engine, { keyId, day: dayOf(clock), requests })
    recorded = requests
  }
  return {
    reserve(engine, requests) {
      reserved = budget.usage().forEventsToday + requests
      return record(engine)
    },
    record,
    settle(engine) {
      reserved = 0
      return record(engine)
    },
  }
}

interface NextRead {
  readonly keyId: string
  readonly clock: Clock
  /** Consecutive reads that found few of their records. */
  readonly emptyReads: number
}

/** Maximum requests for the next read for events; 0 when their share of the day is used up. */
export async function nextReadLimit(engine: Engine, { keyId, clock, emptyReads }: NextRead): Promise<number> {
  const { spent, perDay = defaultPerDay } = await eventRequests(engine, { keyId, day: dayOf(clock) })
  return readLimit(eventsPerDay(perDay) - spent, emptyReads)
}
