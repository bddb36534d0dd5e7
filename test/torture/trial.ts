/** A trial mistreats one warehouse, and tells what broke. */
import type { Rng } from '../../src/lib/rng.ts'
import type { Arena } from './arena.ts'

export interface Outcome {
  /** How often something was done to the program: kills, signals, statements. */
  readonly blows: number
  /** What did not hold. */
  readonly broken: readonly string[]
  /** Worst of the trial, where time is what counts. */
  readonly slowestMs?: number
  /** What exactly was done, where that is to be listed. */
  readonly names?: readonly string[]
}

/** `turn` counts the trials of this kind and engine from 0. */
export type Trial = (arena: Arena, rng: Rng, turn: number) => Promise<Outcome>

export const drawn = <Value>(rng: Rng, values: readonly Value[]): Value =>
  values[Math.floor(rng() * values.length)] as Value

export const defined = (texts: readonly (string | undefined)[]): string[] =>
  texts.filter(text => text !== undefined)
