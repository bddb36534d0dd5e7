/** Two hundred histories of a service that changes while it is read. MUSTER_TEST_SEEDS=1081-1200 chooses others. */
import { expect, test } from 'vitest'
import { seedsOf } from '../support/seed-list.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { proveSeed } from './live-seed.ts'

describeOnEngines('a live service', bench => {
  const seeds = seedsOf('1001-1200')
  for (let from = 0; from < seeds.length; from += 10) {
    const some = seeds.slice(from, from + 10)
    test(`seeds ${some[0]} to ${some.at(-1)}`, async () => {
      let changes = 0
      for (const seed of some) changes += await proveSeed(bench, seed)
      expect(changes).toBeGreaterThan(0)
    })
  }
})
