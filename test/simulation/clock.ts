/** Simulated time: it moves with the steps of a process, and jumps to the end of a sleep that nobody disturbs. */
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

  /** Never back. */
  set(moment: number): void {
    this.#now = Math.max(this.#now, moment)
  }

  async sleep(ms: number): Promise<void> {
    const process = current()
    if (process) return process.sleep(ms)
    this.advance(ms)
  }
}

/** Milliseconds of simulated time within which the clock of a machine may be set while a process runs. */
const longestBeforeSet = 10_000

/**
 * The clock of the machine that a process runs on, wrong by one of these shifts (in milliseconds): a process may find another
 * than the one before it, and in a third of them the clock is set while they run. Waits and `elapsed` are those of the true time.
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
    const drawn = (): number => shifts[Math.floor(rng() * shifts.length)] ?? 0
    this.#true = clock
    this.#shift = drawn()
    this.#later = rng() < 1 / 3 ? drawn() : this.#shift
    this.#setAt = clock.now() + rng() * longestBeforeSet
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
