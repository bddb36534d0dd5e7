/** Simulated time: it moves with the steps of a process, and jumps to the end of a sleep that nobody disturbs. */
import type { Clock } from '../../src/lib/clock.ts'
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
