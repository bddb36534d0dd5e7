/** Draws from a random stream. */
import type { Rng } from '../../lib/rng.ts'

export function pick<T>(rng: Rng, list: readonly T[]): T {
  return list[Math.floor(rng() * list.length)] as T
}

/** A whole number from `low` to `high`, both included. */
export function between(rng: Rng, low: number, high: number): number {
  return low + Math.floor(rng() * (high - low + 1))
}

export function chance(rng: Rng, share: number): boolean {
  return rng() < share
}

export function weighted<T>(rng: Rng, options: readonly (readonly [T, number])[]): T {
  let left = rng() * options.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [value, weight] of options) {
    left -= weight
    if (left < 0) return value
  }
  return (options.at(-1) as readonly [T, number])[0]
}

/** An index of a list of `length` in which the first ones are met far more often, the more so with a greater skew. */
export function skewedIndex(rng: Rng, length: number, skew = 2): number {
  return Math.floor(rng() ** skew * length)
}

export function digits(rng: Rng, length: number): string {
  return Array.from({ length }, () => between(rng, 0, 9)).join('')
}
