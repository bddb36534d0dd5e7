/** Twenty kills on each engine lose nothing that was acknowledged. */
import { test } from 'vitest'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { losesNothing } from './kills.ts'

describeOnEngines('a receiver that is killed', bench => {
  test('20 times, has every event that it answered 202', async () => {
    console.log(`${bench.name}: 20 kills, ${await losesNothing(bench, 20)} events acknowledged, none lost`)
  })
})
