/** Stores verified events before their senders get a 202; only counts repetitions. */
import pTimeout from 'p-timeout'
import { MusterError } from '../lib/errors.ts'
import { type InboxEvent, identityOf } from '../state/inbox/arrivals.ts'
import { groupCommit } from './group-commit.ts'
import type { Room } from './room.ts'

/** Stores all events or none; returns the identities of those that the store had already, if it knows. */
export type StoreEvents = (events: readonly InboxEvent[]) => Promise<readonly string[]>

export interface Intake {
  /** Resolves when the event is durable, and rejects when it could not be stored. */
  take(event: InboxEvent): Promise<void>
  /** Deliveries of events that were stored before, by the identity of the event, since the last call. */
  repetitions(): ReadonlyMap<string, number>
  onIdle(): Promise<void>
}

/** Events remembered: a few minutes of a flood. The warehouse detects older repetitions. */
const remembered = 50_000

/**
 * Time limit for storing: half of the ten seconds or so after which senders give up and deliver again. A database server that
 * became unreachable may never answer.
 */
const longestMs = 5000

const tooLate = (): MusterError =>
  new MusterError({ what: 'the inbox did not answer in time', next: 'the sender delivers the event again' })

export function openIntake(store: StoreEvents, room: Pick<Room, 'take'>): Intake {
  const known = new Map<string, Promise<void>>()
  let repeated = new Map<string, number>()
  const repeat = (identity: string): void => void repeated.set(identity, (repeated.get(identity) ?? 0) + 1)
  const groups = groupCommit<InboxEvent>(async events => {
    const stored = pTimeout(store(events), { milliseconds: longestMs, message: tooLate() })
    for (const identity of await stored) repeat(identity)
  })
  const forget = (): void => {
    for (const identity of known.keys()) {
      if (known.size <= remembered) return
      known.delete(identity)
    }
  }
  return {
    async take(event) {
      const identity = identityOf(event)
      const before = known.get(identity)
      // The first delivery may not be on disk yet: the repetition waits for it.
      if (before) return before.then(() => repeat(identity))
      room.take(event)
      const stored = groups.add(event)
      known.set(identity, stored)
      stored.catch(() => known.delete(identity))
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
