/** Ten thousand seeds of the model of sweep-model.test.ts. */
import { expect, test } from 'vitest'
import { proveSeeds } from './sweep-seeds.ts'

for (let first = 1; first <= 10_000; first += 1000)
  test(`seeds ${first} to ${first + 999}`, async () => {
    expect((await proveSeeds(first, first + 999)).tombstones).toBeGreaterThan(1000)
  }, 120_000)
