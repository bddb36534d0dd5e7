/** No live row is ever tombstoned, and every deletion is found, over seeds of a list that changes, fails and hides rows. */
import { describe, expect, test } from 'vitest'
import type { Mistakes } from './modelled-sweeps.ts'
import { shortHistory } from './sweep-history.ts'
import { caughtBy, proveSeeds } from './sweep-seeds.ts'

describe('sweeps of a list that changes, fails and hides rows', () => {
  test('tombstone no live row, and find what is deleted with a second piece of evidence', async () => {
    const { tombstones } = await proveSeeds(1, 150)
    expect(tombstones).toBeGreaterThan(500)
  })

  test('leave a short list alone that is shown as empty or without most of its rows, and find what is deleted', async () => {
    let [hidden, tombstones] = [0, 0]
    for (let seed = 1; seed <= 300; seed += 1) {
      const { falseTombstones, missed, happened, ...outcome } = await shortHistory(seed)
      expect({ seed, falseTombstones, missed }).toEqual({ seed, falseTombstones: [], missed: [] })
      hidden += happened.hidden ?? 0
      tombstones += outcome.tombstones
    }
    expect(hidden).toBeGreaterThan(500)
    expect(tombstones).toBeGreaterThan(200)
    let caught = 0
    for (let seed = 1; seed <= 20; seed += 1)
      caught += Number((await shortHistory(seed, { fromTwenty: true })).falseTombstones.length > 0)
    expect(caught).toBeGreaterThan(10)
  })

  test.each<[string, Mistakes]>([
    ['one piece of evidence is enough', { oneObservation: true }],
    ['any number may go at once', { noBreaker: true }],
    ['the scope of the key is not looked at', { anyScope: true }],
    ['ids are not compared with totals', { acceptsAnything: true }],
  ])('tombstone live rows where %s', async (_, mistakes) => {
    expect(await caughtBy(mistakes, 300)).toBeDefined()
  })
})
