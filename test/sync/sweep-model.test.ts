/** No live row is ever tombstoned, and every deletion is found, over seeds of a list that changes, fails and hides rows. */
import { describe, expect, test } from 'vitest'
import type { Mistakes } from './modelled-sweeps.ts'
import { caughtBy, proveSeeds } from './sweep-seeds.ts'

describe('sweeps of a list that changes, fails and hides rows', () => {
  test('tombstone no live row, and find what is deleted with a second piece of evidence', async () => {
    const { tombstones } = await proveSeeds(1, 150)
    expect(tombstones).toBeGreaterThan(500)
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
