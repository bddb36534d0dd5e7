/** Generates seeded random numbers: the same seed gives the same run. */

/** A number in [0, 1). */
export type Rng = () => number

/** mulberry32: 32 bits of state, enough for test data and jitter, never for secrets. */
export function seededRng(seed: number): Rng {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A separate stream for each name: one more draw in one component does not change the others. */
export function namedRng(seed: number, name: string): Rng {
  let hash = 2_166_136_261 ^ seed
  for (const char of name) hash = Math.imul(hash ^ char.charCodeAt(0), 16_777_619)
  return seededRng(hash)
}
