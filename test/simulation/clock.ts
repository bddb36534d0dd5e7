/** Provides simulated time: each step of a process advances it, and it jumps to the end of a sleep when no step is waiting. */
import type { Clock } from '../../src/lib/clock.ts'
import type { Rng } from '../../src/lib/rng.ts'
import { current } from './process.ts'

export class SimulatedClock implements Clock {
  #now: number

  constructor(start: number) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  get iso(): string {
    return new Date(this.#now).toISOString()
  }

  advance(ms: number): void {
    this.#now += ms
  }

  /** Never moves back. */
  set(time: number): void {
    this.#now = Math.max(this.#now, time)
  }

  async sleep(ms: number): Promise<void> {
    const process = current()
    if (process) return process.sleep(ms)
    this.advance(ms)
  }
}

/** The clock of a machine may be set within this many milliseconds of a process's start, in simulated time. */
const maxBeforeSetMs = 10_000

/**
 * The machine's clock, wrong by one of these shifts (in milliseconds). Each process draws its own shift, and a third of them
 * draw a second one, to which the clock is set while they run. Waits and `elapsed` follow the true time.
 */
export class MachineClock implements Clock {
  readonly #true: SimulatedClock
  readonly #shift: number
  readonly #later: number
  readonly #setAt: number

  constructor(
    clock: SimulatedClock,
    { shifts, rng }: { readonly shifts: readonly number[]; readonly rng: Rng },
  ) {
    const drawShift = (): number => shifts[Math.floor(rng() * shifts.length)] ?? 0
    this.#true = clock
    this.#shift = drawShift()
    this.#later = rng() < 1 / 3 ? drawShift() : this.#shift
    this.#setAt = clock.now() + rng() * maxBeforeSetMs
  }

  now(): number {
    return this.#true.now() + (this.#true.now() < this.#setAt ? this.#shift : this.#later)
  }

  elapsed(): number {
    return this.#true.now()
  }

  sleep(ms: number): Promise<void> {
    return this.#true.sleep(ms)
  }
}
