/** Seeds of the model, each of which must tombstone no live row and find every deletion. */
import { expect } from 'vitest'
import type { Mistakes } from './modelled-sweeps.ts'
import { history } from './sweep-history.ts'

/** Throws for a seed that breaks a rule, and when anything that can go wrong was hardly tried. */
export async function proveSeeds(first: number, last: number): Promise<{ readonly tombstones: number }> {
  const happened: Record<string, number> = {}
  let tombstones = 0
  for (let seed = first; seed <= last; seed += 1) {
    const outcome = await history(seed)
    const { falseTombstones, missed } = outcome
    expect({ seed, falseTombstones, missed }).toEqual({ seed, falseTombstones: [], missed: [] })
    tombstones += outcome.tombstones
    for (const [name, n] of Object.entries(outcome.happened)) happened[name] = (happened[name] ?? 0) + n
  }
  // Counting settles a sweep in almost any weather.
  const { ties, unsettled, ...tried } = happened
  const least = (last - first) / 20
  for (const [name, n] of Object.entries(tried))
    expect({ name, n, isTried: n > least }).toEqual({ name, n, isTried: true })
  return { tombstones }
}

/** The first seed that tombstones a live row. */
export async function caughtBy(mistakes: Mistakes, seeds: number): Promise<number | undefined> {
  for (let seed = 1; seed <= seeds; seed += 1)
    if ((await history(seed, mistakes)).falseTombstones.length > 0) return seed
  return undefined
}
