/** Stores events durably before their sender gets a 202: in a log beside a DuckDB file, or in a table of a server. */
import { insertEvents, loadEventFiles } from '../state/inbox/arrivals.ts'
import type { Engine } from '../warehouse/engine.ts'
import { openEventLog } from './event-log.ts'
import type { StoreEvents } from './intake.ts'

export interface Pending {
  readonly events: number
  /** Arrival of the oldest, ISO 8601. */
  readonly oldest: string | null
}

export interface InboxStore {
  readonly store: StoreEvents
  /** Loads stored events into the inbox of the warehouse; returns the number of deliveries. */
  load(engine: Engine): Promise<number>
  /** Events that this process stored and did not load yet. */
  pending(): Pending
  close(): Promise<void>
}

/** For a DuckDB file: it handles few small transactions per second, and a sync may lock it for hours. */
export function logStore(folder: string): InboxStore {
  const log = openEventLog(folder)
  const empty: Pending = { events: 0, oldest: null }
  let pending = empty
  return {
    store: async events => {
      await log.append(events)
      pending = {
        events: pending.events + events.length,
        oldest: pending.oldest ?? events[0]?.receivedAt ?? null,
      }
      return []
    },
    async load(engine) {
      const before = pending
      pending = empty
      try {
        const files = await log.seal()
        const deliveries = files.length === 0 ? 0 : await loadEventFiles(engine, files)
        await log.remove(files)
        return deliveries
      } catch (error) {
        pending = { events: before.events + pending.events, oldest: before.oldest ?? pending.oldest }
        throw error
      }
    },
    pending: () => pending,
    close: () => log.close(),
  }
}

/** For a server. `engine` is a session of its own, so that no event waits for a merge; closing the store closes it. */
export function tableStore(engine: Engine): InboxStore {
  return {
    store: events => insertEvents(engine, events),
    load: async () => 0,
    pending: () => ({ events: 0, oldest: null }),
    close: () => engine.close(),
  }
}
