/** Takes verified events in: each is durable before its sender is told so, and a repetition costs nothing. */
import pTimeout from 'p-timeout'
import { MusterError } from '../lib/errors.ts'
import type { InboxEvent } from './event.ts'
import { groupCommit } from './group-commit.ts'

/** Stores events, all or none; gives the ids of those that were there already, as far as it can tell. */
export type StoreEvents = (events: readonly InboxEvent[]) => Promise<readonly string[]>

export interface Intake {
  /** Resolves when the event is durable, and rejects when it could not be stored. */
  take(event: InboxEvent): Promise<void>
  /** Deliveries of events that were stored before, by event id, since the last call. */
  repetitions(): ReadonlyMap<string, number>
  onIdle(): Promise<void>
}

/** Ids remembered: some minutes of a flood; the warehouse finds older repetitions by itself. */
const remembered = 50_000

/**
 * Senders give up after about ten seconds and deliver again. A server that became unreachable may not answer at all,
 * so storing gets half of that time.
 */
const longestMs = 5000

const tooLate = (): MusterError =>
  new MusterError({ what: 'the inbox did not answer in time', next: 'the sender delivers the event again' })

export function openIntake(store: StoreEvents): Intake {
  const known = new Map<string, Promise<void>>()
  let repeated = new Map<string, number>()
  const again = (id: string): void => void repeated.set(id, (repeated.get(id) ?? 0) + 1)
  const groups = groupCommit<InboxEvent>(async events => {
    const stored = pTimeout(store(events), { milliseconds: longestMs, message: tooLate() })
    for (const id of await stored) again(id)
  })
  const forget = (): void => {
    for (const id of known.keys()) {
      if (known.size <= remembered) return
      known.delete(id)
    }
  }
  return {
    take(event) {
      const before = known.get(event.id)
      // The first delivery may still be on its way to the disk: its repetition is told when it is there.
      if (before) return before.then(() => again(event.id))
      const stored = groups.add(event)
      known.set(event.id, stored)
      stored.catch(() => known.delete(event.id))
      forget()
      return stored
    },
    repetitions() {
      const taken = repeated
      repeated = new Map()
      return taken
    },
    onIdle: () => groups.onIdle(),
  }
}
