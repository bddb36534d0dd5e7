/** Sweeps of a live sandbox over HTTP, in bad weather, on both engines. */
import { expect, test } from 'vitest'
import { describeOnEngines } from '../warehouse/fixture.ts'
import { proveSweeps } from './sweep-seed.ts'

describeOnEngines('sweeps of a live service', bench => {
  for (let first = 101; first <= 191; first += 10)
    test(`seeds ${first} to ${first + 9}`, async () => {
      let found = 0
      for (let seed = first; seed < first + 10; seed += 1) found += await proveSweeps(bench, seed)
      expect(found).toBeGreaterThan(20)
    }, 300_000)
})
