/** What a process that serves does every second: drains the inbox, and has read what events point at. */

import { addRepetitions, drainInbox } from '../events/drain.ts'
import type { Intake } from '../events/intake.ts'
import { addRefusals } from '../events/refusals.ts'
import { expireInbox, settle, type Waiting, waitingEvents } from '../events/settle.ts'
import type { InboxStore } from '../events/store.ts'
import type { Clock } from '../lib/clock.ts'
import { dayMs, hourMs, utcDay } from '../lib/dates.ts'
import { lastDoneSync } from '../state/runs/resource-state.ts'
import type { Engine } from '../warehouse/engine.ts'
import type { Door } from './engine-handle.ts'
import { paceAfter, type Spent } from './poll-interval.ts'

/** Milliseconds. */
export interface Rhythm {
  /** From one look at the inbox to the next. */
  readonly tickMs: number
  /** A burst is waited out: nothing came for so long. */
  readonly quietMs: number
  /** The oldest event waits no longer than this for quiet. */
  readonly latestMs: number
  /** From one read to the next. */
  readonly leastMs: number
}

export const usualRhythm: Rhythm = { tickMs: 1000, quietMs: 3000, latestMs: 30_000, leastMs: 60_000 }

/** Settled events are kept in the inbox so long, to know a late repetition. */
const keptMs = 30 * dayMs

/** From one look at what others have read to the next. */
const settleMs = 5000

export interface UpkeepParts {
  readonly door: Door
  readonly store: InboxStore
  readonly intake: Pick<Intake, 'repetitions'>
  /** Deliveries refused since the start, by reason. */
  readonly refused: () => Readonly<Record<string, number>>
  readonly clock: Clock
  /** Names this process in the rows that it drains. */
  readonly holder: string
  readonly rhythm: Rhythm
  /** Reads what waits; what it cost, and whether it was done. */
  readonly read: (engine: Engine, waiting: Waiting) => Promise<Spent & { readonly isDone: boolean }>
}

export interface UpkeepState {
  readonly waiting: Waiting
  /** When the last sync that was done ended, ISO 8601. */
  readonly lastSync: string | null
}

export interface Upkeep {
  /** Once: drains, and reads when it is time to. */
  tick(): Promise<void>
  /** Drains without reading. */
  drain(): Promise<void>
  state(): UpkeepState
}

const nothing: Waiting = { lists: [], byId: [], records: 0, events: 0, oldest: null }

class Upkeeper implements Upkeep {
  readonly #parts: UpkeepParts
  #state: UpkeepState = { waiting: nothing, lastSync: null }
  #drains = 0
  #lastArrival = 0
  #nextRead = 0
  #failures = 0
  #expired = 0
  #settled = 0
  /** Refusals that the warehouse knows of. */
  #noted: Readonly<Record<string, number>> = {}

  constructor(parts: UpkeepParts) {
    this.#parts = parts
  }

  state(): UpkeepState {
    return this.#state
  }

  drain(): Promise<void> {
    return this.#parts.door.use(engine => this.#drain(engine))
  }

  async tick(): Promise<void> {
    await this.#parts.door.use(async engine => {
      await this.#drain(engine)
      if (!this.#isTime()) return
      // What was read meanwhile, or was refused lately, costs nothing more.
      await this.#settle(engine)
      if (this.#isTime()) await this.#read(engine)
    })
  }

  async #drain(engine: Engine): Promise<void> {
    const { store, intake, clock, holder } = this.#parts
    const at = new Date(clock.now()).toISOString()
    // Before the load: whatever is counted here was stored by then, and has its row afterwards.
    const repetitions = intake.repetitions()
    await store.load(engine)
    this.#drains += 1
    const drained = await drainInbox(engine, { id: `${holder}.${this.#drains}`, at })
    if (drained > 0) this.#lastArrival = clock.now()
    await addRepetitions(engine, repetitions)
    await this.#noteRefusals(engine, at)
    await this.#expire(engine)
    // Others read as well, a sync for one; looking for it every second would cost a server more than the events do.
    if (clock.now() - this.#settled >= settleMs) await this.#settle(engine)
    else if (drained > 0) this.#state = { ...this.#state, waiting: await waitingEvents(engine) }
  }

  async #noteRefusals(engine: Engine, at: string): Promise<void> {
    const refused = this.#parts.refused()
    const fresh = Object.entries(refused)
      .map(([reason, count]) => [reason, count - (this.#noted[reason] ?? 0)] as const)
      .filter(([, count]) => count > 0)
    await addRefusals(engine, { day: utcDay(at), counts: new Map(fresh) })
    this.#noted = refused
  }

  /** Once an hour. */
  async #expire(engine: Engine): Promise<void> {
    const now = this.#parts.clock.now()
    if (now - this.#expired < hourMs) return
    this.#expired = now
    await expireInbox(engine, new Date(now - keptMs).toISOString())
  }

  #isTime(): boolean {
    const { lists, records, oldest } = this.#state.waiting
    const now = this.#parts.clock.now()
    if (lists.length + records === 0 || now < this.#nextRead) return false
    const { quietMs, latestMs } = this.#parts.rhythm
    return now - this.#lastArrival >= quietMs || now - Date.parse(oldest ?? '') >= latestMs
  }

  async #read(engine: Engine): Promise<void> {
    const { clock, read, rhythm } = this.#parts
    const { isDone, ...spent } = await read(engine, this.#state.waiting)
    this.#failures = isDone ? 0 : this.#failures + 1
    // What fails now is likely to fail in a minute, and each attempt is paid for.
    this.#nextRead = clock.now() + paceAfter(spent, rhythm.leastMs) * 2 ** Math.min(this.#failures, 6)
    await this.#settle(engine)
  }

  async #settle(engine: Engine): Promise<void> {
    this.#settled = this.#parts.clock.now()
    const waiting = await settle(engine, new Date(this.#parts.clock.now()).toISOString())
    this.#state = { waiting, lastSync: await lastDoneSync(engine) }
  }
}

export function createUpkeep(parts: UpkeepParts): Upkeep {
  return new Upkeeper(parts)
}
