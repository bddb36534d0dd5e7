/** Ten thousand seeds of the model of sweep-model.test.ts, and a mistake that only a few of them meet. */
import { expect, test } from 'vitest'
import { caughtBy, proveSeeds } from './sweep-seeds.ts'

for (let first = 1; first <= 10_000; first += 1000)
  test(`seeds ${first} to ${first + 999}`, async () => {
    expect((await proveSeeds(first, first + 999)).tombstones).toBeGreaterThan(1000)
  }, 120_000)

test('a sweep that does not check ids after a 404 tombstones live rows', async () => {
  expect(await caughtBy({ noControlAfter: true }, 1000)).toBeDefined()
}, 120_000)
