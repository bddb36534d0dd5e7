/** Draws from a random stream: everything generated is a function of these. */
import type { Rng } from '../../lib/rng.ts'
import { objectId } from './identity.ts'

export class Draw {
  /** A number in [0, 1). */
  readonly fraction: Rng
  readonly #endMs: number

  /** No time is drawn at or after `endMs`. */
  constructor(rng: Rng, endMs = Infinity) {
    this.fraction = rng
    this.#endMs = endMs
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.fraction() * list.length)] as T
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1))
  }

  chance(share: number): boolean {
    return this.fraction() < share
  }

  weighted<T>(options: readonly (readonly [T, number])[]): T {
    let left = this.fraction() * options.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [value, weight] of options) {
      left -= weight
      if (left < 0) return value
    }
    return (options.at(-1) as readonly [T, number])[0]
  }

  /** One of a list whose first members are drawn far more often, the more so with a greater skew. */
  skewed<T>(list: readonly T[], skew = 2): T {
    return list[Math.floor(this.fraction() ** skew * list.length)] as T
  }

  digits(length: number): string {
    return Array.from({ length }, () => this.between(0, 9)).join('')
  }

  id(createdMs: number): string {
    return objectId(this.fraction, createdMs)
  }

  /** A time from `low` up to `high`, both in milliseconds. */
  time(low: number, high: number): number {
    const last = Math.min(high, this.#endMs - 1)
    return Math.floor(low + this.fraction() * Math.max(0, last - low))
  }
}
