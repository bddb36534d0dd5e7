/** Drains the inbox of `muster serve` every second, and reads the records that events name. */

import { drainInbox } from '../events/drain.ts'
import type { Intake } from '../events/intake.ts'
import type { Room } from '../events/room.ts'
import type { InboxStore } from '../events/store.ts'
import { type Clock, elapsedOf } from '../lib/clock.ts'
import { dayMs, hourMs, minuteMs, startOfUtcDay, utcDay } from '../lib/dates.ts'
import { addRefusals, addRepetitions } from '../state/inbox/arrivals.ts'
import { storedEvents } from '../state/inbox/figures.ts'
import { expireInbox, settle, type WaitingEvents, waitingEvents } from '../state/inbox/settle.ts'
import { lastDoneSync } from '../state/runs/resource-state.ts'
import type { Engine } from '../warehouse/engine.ts'
import type { EngineHandle } from './engine-handle.ts'

/** Milliseconds. */
export interface Intervals {
  /** Between two drains of the inbox. */
  readonly tickMs: number
  /** A burst ends when no event arrives for this long. */
  readonly quietMs: number
  /** The oldest event waits at most this long for the end of a burst. */
  readonly latestMs: number
  /** Minimum between two reads. */
  readonly minMs: number
}

export const defaultIntervals: Intervals = { tickMs: 1000, quietMs: 3000, latestMs: 30_000, minMs: 60_000 }

/** Interval of checking what other processes have read. */
const settleMs = 5000

/** Interval of measuring how much is stored. */
const measureMs = minuteMs

/** The result of a read: whether it was done, and what it cost. */
export interface ReadResult extends ReadCost {
  readonly isDone: boolean
  /** Whether most of the requested records were not found. */
  readonly isMostlyMissing: boolean
}

export interface InboxWorkerParts {
  readonly handle: EngineHandle
  readonly store: InboxStore
  readonly intake: Pick<Intake, 'repetitions'>
  readonly room: Pick<Room, 'look'>
  /** Deliveries refused since the start, by reason. */
  readonly refused: () => Readonly<Record<string, number>>
  /** How long settled events stay, so that late repetitions are recognised. */
  readonly inboxDays: number
  readonly clock: Clock
  /** Name of this process in the rows that it drains. */
  readonly holder: string
  readonly intervals: Intervals
  /** Reads what the waiting events ask for; `emptyReads` counts reads in a row that found few of their records. */
  readonly read: (engine: Engine, waiting: WaitingEvents, emptyReads: number) => Promise<ReadResult>
}

export interface InboxState {
  readonly waiting: WaitingEvents
  /** End of the last sync that was done, ISO 8601. */
  readonly lastSync: string | null
}

const nothing: WaitingEvents = { lists: [], byId: [], records: 0, events: 0, oldest: null }

export class InboxWorker {
  readonly #parts: InboxWorkerParts
  #state: InboxState = { waiting: nothing, lastSync: null }
  #drains = 0
  /** Times on the monotonic `elapsed`: with the wall clock set back, events would stay unread that long. */
  #lastArrival = Number.NEGATIVE_INFINITY
  #nextRead = Number.NEGATIVE_INFINITY
  #expired = Number.NEGATIVE_INFINITY
  #settled = Number.NEGATIVE_INFINITY
  #failures = 0
  #emptyReads = 0
  #measured = Number.NEGATIVE_INFINITY
  /** Refusals already counted in the warehouse. */
  #counted: Readonly<Record<string, number>> = {}

  constructor(parts: InboxWorkerParts) {
    this.#parts = parts
  }

  state(): InboxState {
    return this.#state
  }

  /** Drains without reading. */
  drain(): Promise<void> {
    return this.#parts.handle.use(engine => this.#drain(engine))
  }

  /** Drains, and reads when a read is due. */
  async tick(): Promise<void> {
    await this.#parts.handle.use(async engine => {
      await this.#drain(engine)
      if (!this.#isTime()) return
      // Events that another process has settled need no read.
      await this.#settle(engine)
      if (this.#isTime()) await this.#read(engine)
    })
  }

  async #drain(engine: Engine): Promise<void> {
    const { store, intake, room, clock, holder } = this.#parts
    const at = new Date(clock.now()).toISOString()
    // Must precede the load: every event whose repetitions are counted here has been stored by then.
    const repetitions = intake.repetitions()
    const look = room.look()
    await store.load(engine)
    this.#drains += 1
    const drained = await drainInbox(engine, { id: `${holder}.${this.#drains}`, at })
    if (drained > 0) this.#lastArrival = elapsedOf(clock)
    await addRepetitions(engine, repetitions)
    await this.#countRefusals(engine, at)
    await this.#expire(engine)
    if (elapsedOf(clock) - this.#measured >= measureMs) {
      look.measured(await storedEvents(engine))
      this.#measured = elapsedOf(clock)
    }
    // Other processes, such as a sync, read as well. Checking every second would cost a server more than the events.
    if (elapsedOf(clock) - this.#settled >= settleMs) await this.#settle(engine)
    else if (drained > 0) this.#state = { ...this.#state, waiting: await waitingEvents(engine) }
  }

  async #countRefusals(engine: Engine, at: string): Promise<void> {
    const refused = this.#parts.refused()
    const fresh = Object.entries(refused)
      .map(([reason, count]) => [reason, count - (this.#counted[reason] ?? 0)] as const)
      .filter(([, count]) => count > 0)
    await addRefusals(engine, { day: utcDay(at), counts: new Map(fresh) })
    this.#counted = refused
  }

  /** Once an hour. */
  async #expire(engine: Engine): Promise<void> {
    const { clock } = this.#parts
    if (elapsedOf(clock) - this.#expired < hourMs) return
    this.#expired = elapsedOf(clock)
    await expireInbox(engine, new Date(clock.now() - this.#parts.inboxDays * dayMs).toISOString())
  }

  #isTime(): boolean {
    const { lists, records, oldest } = this.#state.waiting
    const { clock } = this.#parts
    const elapsed = elapsedOf(clock)
    if (lists.length + records === 0 || elapsed < this.#nextRead) return false
    const { quietMs, latestMs } = this.#parts.intervals
    return elapsed - this.#lastArrival >= quietMs || clock.now() - Date.parse(oldest ?? '') >= latestMs
  }

  async #read(engine: Engine): Promise<void> {
    const { clock, read, intervals } = this.#parts
    const { isDone, isMostlyMissing, ...spent } = await read(engine, this.#state.waiting, this.#emptyReads)
    this.#failures = isDone ? 0 : this.#failures + 1
    this.#emptyReads = isMostlyMissing ? this.#emptyReads + 1 : 0
    // A read that failed is likely to fail again in a minute, and each attempt costs requests.
    const setbacks = this.#failures + this.#emptyReads
    this.#nextRead = elapsedOf(clock) + pollInterval(spent, intervals.minMs) * 2 ** Math.min(setbacks, 6)
    await this.#settle(engine)
  }

  async #settle(engine: Engine): Promise<void> {
    this.#settled = elapsedOf(this.#parts.clock)
    const waiting = await settle(engine, new Date(this.#parts.clock.now()).toISOString())
    this.#state = { waiting, lastSync: await lastDoneSync(engine) }
  }
}

export interface ReadCost {
  /** Requests of the latest read. */
  readonly requests: number
  readonly remainingToday: number
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** Share of the day's remaining budget that reads for events may spend. */
const budgetShare = 0.1

/**
 * Milliseconds between two reads, chosen so that the events' share lasts until the end of the UTC day: at least `minMs`, at
 * most an hour.
 */
export function pollInterval({ requests, remainingToday, at }: ReadCost, minMs: number): number {
  const left = startOfUtcDay(at, 1) - at
  const affordable = Math.max(1, remainingToday * budgetShare)
  return Math.min(Math.max(minMs, (left * requests) / affordable), Math.max(minMs, hourMs))
}
