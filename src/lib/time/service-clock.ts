/**
 * The time of the service, by the `Date` of its answers. Rows that machines with different clocks wrote, or one whose clock was
 * set, are in one order by it. Until an answer has a plausible `Date`, and where none has, it is the clock of this machine.
 */
import { type Clock, elapsedOf } from '../clock.ts'
import { dayMs, minuteMs } from '../dates.ts'

/** Clocks that differ by less are taken to agree. A `Date` has whole seconds, and answers take time. */
const agreedMs = minuteMs
/** A `Date` further from the clock of this machine tells nothing: one of the two is not set at all. */
const plausibleMs = 366 * dayMs

/** Milliseconds since the epoch; undefined for anything but a date of HTTP. Date.parse also accepts texts such as "-5". */
export function httpDate(text: string | undefined): number | undefined {
  if (!/^[A-Za-z]{3,9},? .*\d.* GMT$/.test(text?.trim() ?? '')) return undefined
  const at = Date.parse(text ?? '')
  return Number.isNaN(at) ? undefined : at
}

/** What the service's clock showed, and `elapsed` at that time. */
interface Reading {
  readonly at: number
  readonly elapsed: number
}

export class ServiceClock implements Clock {
  readonly #machine: Clock
  /** Of the service, exact to a second. */
  #reading: Reading | undefined
  /** Of `now`: the clock of this machine where the two agree, so that nothing changes where both are right. */
  #basis: Reading | undefined
  #aheadMs: number | undefined
  #isSteady = true

  constructor(machine: Clock) {
    this.#machine = machine
  }

  /** Takes over the `Date` of an answer that has just arrived. */
  observe(date: string | undefined): void {
    const at = httpDate(date)
    const [now, elapsed] = [this.#machine.now(), this.elapsed()]
    if (at === undefined || Math.abs(at - now) > plausibleMs) return
    const known = this.#at(this.#reading, elapsed)
    if (known !== undefined && Math.abs(at - known) <= agreedMs) return
    // Its answers disagree, or this machine was suspended: which of the two, nobody can say.
    if (known !== undefined) this.#isSteady = false
    this.#aheadMs = now - at
    this.#reading = { at, elapsed }
    this.#basis = { at: Math.abs(this.#aheadMs) <= agreedMs ? now : at, elapsed }
  }

  /** A run begins: what made the service's time doubtful before does not count for it. */
  begin(): void {
    this.#isSteady = true
  }

  now(): number {
    return this.#at(this.#basis, this.elapsed()) ?? this.#machine.now()
  }

  /** Milliseconds since the epoch by the service alone; undefined where its answers did not say it, or contradict each other. */
  service(): number | undefined {
    return this.#isSteady ? this.#at(this.#reading, this.elapsed()) : undefined
  }

  /** Milliseconds by which this machine's clock was ahead of the service's, negative behind it; undefined until measured. */
  get aheadMs(): number | undefined {
    return this.#aheadMs
  }

  /** Whether the service should be asked: it never said its time, or the clock of this machine was set since, or the machine slept. */
  get isDoubtful(): boolean {
    if (!this.#reading || this.#aheadMs === undefined) return true
    const ahead = this.#machine.now() - (this.#at(this.#reading, this.elapsed()) ?? 0)
    return isApart(ahead - this.#aheadMs)
  }

  /** For what only this machine reads and writes: its clock is the one at hand before the first answer. */
  get machine(): Clock {
    return this.#machine
  }

  elapsed(): number {
    return elapsedOf(this.#machine)
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#machine.sleep(ms, signal)
  }

  #at(reading: Reading | undefined, elapsed: number): number | undefined {
    return reading && reading.at + elapsed - reading.elapsed
  }
}

/** The one that is given, or one over the clock that is given. */
export const serviceClock = (clock: Clock): ServiceClock =>
  clock instanceof ServiceClock ? clock : new ServiceClock(clock)

/** Whether the clocks differ by more than a minute. */
export const isApart = (aheadMs: number): boolean => Math.abs(aheadMs) > agreedMs
