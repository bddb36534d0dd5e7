/** Limits the inbox: a sender with the secret could otherwise fill the disk. */
import { formatNumber } from '../lib/counted.ts'
import { MusterError } from '../lib/errors.ts'
import type { InboxEvent } from '../state/inbox/arrivals.ts'
import { type StoredEvents, storedBytes } from '../state/inbox/figures.ts'

/** The event was not stored; the sender will deliver it again. */
export class InboxFull extends MusterError {}

/** Share of the inbox for events that change no data; the rest is reserved for those that do. */
const shareWithoutSignal = 0.5

/** Whether one more event fits within `bounds`, in number and bytes. */
export function hasRoom(
  event: Pick<InboxEvent, 'state' | 'payload'>,
  { stored, bounds }: { readonly stored: StoredEvents; readonly bounds: StoredEvents },
): boolean {
  const share = event.state === 'new' ? 1 : shareWithoutSignal
  return (
    stored.events + 1 <= bounds.events * share &&
    stored.bytes + storedBytes(event.payload) <= bounds.bytes * share
  )
}

/** Counts the events stored since the warehouse was last measured. */
export class Room {
  readonly bounds: StoredEvents
  #measured: StoredEvents = { events: 0, bytes: 0 }
  #added = { events: 0, bytes: 0 }

  constructor(bounds: StoredEvents) {
    this.bounds = bounds
  }

  get stored(): StoredEvents {
    return {
      events: this.#measured.events + this.#added.events,
      bytes: this.#measured.bytes + this.#added.bytes,
    }
  }

  /** Throws InboxFull when there is no room for the event. */
  take(event: InboxEvent): void {
    if (!hasRoom(event, this)) {
      const { events, bytes } = this.stored
      throw new InboxFull({
        what: `the inbox is full, with ${formatNumber(events)} events in ${formatNumber(Math.ceil(bytes / 1e6))} MB`,
        next: 'lower inboxDays and run muster retention, or raise inboxEvents and inboxMegabytes',
      })
    }
    this.#added.events += 1
    this.#added.bytes += storedBytes(event.payload)
  }

  /** Starts a measurement; everything taken so far must be loaded before `measured` is called. */
  look(): { measured(stored: StoredEvents): void } {
    const before = { ...this.#added }
    return {
      measured: stored => {
        this.#measured = stored
        this.#added.events -= before.events
        this.#added.bytes -= before.bytes
      },
    }
  }
}
