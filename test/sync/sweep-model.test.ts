/** No live row is ever tombstoned, and every deletion is found, over seeds of a list that changes, fails and hides rows. */
import { describe, expect, test } from 'vitest'
import type { Mistakes } from './modelled-sweeps.ts'
import { history } from './sweep-history.ts'
import { proveSeeds } from './sweep-seeds.ts'

/** The first seed that tombstones a live row. */
async function caughtBy(mistakes: Mistakes, seeds: number): Promise<number | undefined> {
  for (let seed = 1; seed <= seeds; seed += 1)
    if ((await history(seed, mistakes)).falseTombstones.length > 0) return seed
  return undefined
}

describe('sweeps of a list that changes, fails and hides rows', () => {
  test('tombstone no live row, and find what is deleted with a second witness', async () => {
    const { tombstones } = await proveSeeds(1, 150)
    expect(tombstones).toBeGreaterThan(500)
  })

  test.each<[string, Mistakes]>([
    ['one witness is enough', { oneWitness: true }],
    ['any number may go at once', { noBreaker: true }],
    ['the scope of the key is not looked at', { anyScope: true }],
    ['nobody looks whether ids are still answered after a 404', { noControlAfter: true }],
    ['ids are not compared with totals', { acceptsAnything: true, oneWitness: true }],
  ])('tombstone live rows where %s', async (_, mistakes) => {
    expect(await caughtBy(mistakes, 300)).toBeDefined()
  })
})
