/** Where events are durable before their sender is told so: a log beside a file, or a table of a server. */
import type { Engine } from '../warehouse/engine.ts'
import { openEventLog } from './event-log.ts'
import { insertEvents } from './inbox-table.ts'
import type { StoreEvents } from './intake.ts'
import { loadEventLog } from './load-log.ts'

export interface Pending {
  readonly events: number
  readonly oldest: string | null
}

export interface InboxStore {
  readonly store: StoreEvents
  /** Brings into ops.inbox of the warehouse what is stored and not there yet; returns how many deliveries. */
  load(engine: Engine): Promise<number>
  /** What this process stored and nobody loaded yet: how many, and the arrival of the oldest, ISO 8601. */
  pending(): Pending
  close(): Promise<void>
}

/** A DuckDB file takes few small transactions a second, and a sync may hold it for hours. */
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
        return await loadEventLog(engine, log)
      } catch (error) {
        pending = { events: before.events + pending.events, oldest: before.oldest ?? pending.oldest }
        throw error
      }
    },
    pending: () => pending,
    close: () => log.close(),
  }
}

/** `engine` is a session of its own, so that no event waits for a merge; it is closed with the store. */
export function tableStore(engine: Engine): InboxStore {
  return {
    store: events => insertEvents(engine, events),
    load: async () => 0,
    pending: () => ({ events: 0, oldest: null }),
    close: () => engine.close(),
  }
}
