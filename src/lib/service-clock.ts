/**
 * Tells the service's time from the `Date` of its answers. It gives one order to rows written by machines with different
 * clocks, or by one whose clock was set. Without a plausible `Date` it falls back to the clock of this machine.
 */
import { type Clock, elapsedOf } from './clock.ts'
import { dayMs, minuteMs } from './dates.ts'

/** Clocks that differ by less are treated as equal: a `Date` has whole seconds, and answers take time. */
const agreedMs = minuteMs
/** A `Date` further from the clock of this machine is ignored: one of the two clocks was never set. */
const plausibleMs = 366 * dayMs

/** Milliseconds since the epoch; undefined unless it is an HTTP date. Date.parse also accepts texts such as "-5". */
export function httpDate(text: string | undefined): number | undefined {
  if (!/^[A-Za-z]{3,9},? .*\d.* GMT$/.test(text?.trim() ?? '')) return undefined
  const at = Date.parse(text ?? '')
  return Number.isNaN(at) ? undefined : at
}

/** A time of the service's clock, with `elapsed` at that time. */
interface ClockReading {
  readonly at: number
  readonly elapsed: number
}

export class ServiceClock implements Clock {
  readonly #machine: Clock
  /** Last reading of the service's clock, exact to a second. */
  #reading: ClockReading | undefined
  /** Basis of `now`: the clock of this machine if the two agree, so that nothing changes while both are right. */
  #basis: ClockReading | undefined
  #aheadMs: number | undefined
  #isSteady = true

  constructor(machine: Clock) {
    this.#machine = machine
  }

  /** Reads the `Date` of an answer that has just arrived. */
  observe(date: string | undefined): void {
    const at = httpDate(date)
    const [now, elapsed] = [this.#machine.now(), this.elapsed()]
    if (at === undefined || Math.abs(at - now) > plausibleMs) return
    const known = this.#at(this.#reading, elapsed)
    if (known !== undefined && Math.abs(at - known) <= agreedMs) return
    // Either its answers disagree or this machine was suspended; it is impossible to tell which.
    if (known !== undefined) this.#isSteady = false
    this.#aheadMs = now - at
    this.#reading = { at, elapsed }
    this.#basis = { at: Math.abs(this.#aheadMs) <= agreedMs ? now : at, elapsed }
  }

  /** Starts a run: earlier doubts about the service's time do not affect it. */
  begin(): void {
    this.#isSteady = true
  }

  now(): number {
    return this.#at(this.#basis, this.elapsed()) ?? this.#machine.now()
  }

  /** Milliseconds since the epoch by the service alone; undefined if its answers had no time, or contradict each other. */
  service(): number | undefined {
    return this.#isSteady ? this.#at(this.#reading, this.elapsed()) : undefined
  }

  /** Milliseconds by which this machine's clock is ahead of the service's, negative if behind; undefined until measured. */
  get aheadMs(): number | undefined {
    return this.#aheadMs
  }

  /** Whether to ask the service for its time: it is unknown, or this machine's clock was set or the machine slept since. */
  get isDoubtful(): boolean {
    if (!this.#reading || this.#aheadMs === undefined) return true
    const ahead = this.#machine.now() - (this.#at(this.#reading, this.elapsed()) ?? 0)
    return isApart(ahead - this.#aheadMs)
  }

  /** A clock for data that only this machine reads and writes, as it exists before the first answer. */
  get machine(): Clock {
    return this.#machine
  }

  elapsed(): number {
    return elapsedOf(this.#machine)
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#machine.sleep(ms, signal)
  }

  #at(reading: ClockReading | undefined, elapsed: number): number | undefined {
    return reading && reading.at + elapsed - reading.elapsed
  }
}

/** Returns the given clock if it is a ServiceClock, else wraps it. */
export const serviceClock = (clock: Clock): ServiceClock =>
  clock instanceof ServiceClock ? clock : new ServiceClock(clock)

/** Whether the clocks differ by more than a minute. */
export const isApart = (aheadMs: number): boolean => Math.abs(aheadMs) > agreedMs
