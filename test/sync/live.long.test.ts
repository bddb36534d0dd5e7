/** Two hundred histories of a service that changes while it is read. */
import { expect, test } from 'vitest'
import { describeOnEngines } from '../warehouse/fixture.ts'
import { proveSeed } from './live-seed.ts'

describeOnEngines('a live service', bench => {
  for (let decade = 0; decade < 20; decade += 1) {
    const first = 1001 + decade * 10
    test(`seeds ${first} to ${first + 9}`, async () => {
      let changes = 0
      for (let seed = first; seed < first + 10; seed += 1) changes += await proveSeed(bench, seed)
      expect(changes).toBeGreaterThan(0)
    })
  }
})
