/** A service that fails in every way it can: nothing is lost, nothing is made up, and nobody is pestered. */
import { expect, test } from 'vitest'
import { faultNames } from '../fault-layer/faults.ts'
import { thorough } from '../support/long-suite.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { mixedFaults, proveRecovery } from './faulty-sync.ts'

/** Each fault alone is in the long suite; a run that meets seven kinds of them takes as long as one that meets one. */
const atOnce = 7
const groups = Array.from({ length: Math.ceil(faultNames.length / atOnce) }, (_, index) =>
  faultNames.slice(index * atOnce, (index + 1) * atOnce),
)

describeOnEngines('after faults stop, one sync makes everything right', bench => {
  for (const names of groups) {
    test.runIf(thorough)(`after ${names.join(', ')}`, async () => {
      const faults = Object.fromEntries(names.map(name => [name, 0.08]))
      const { hits } = await proveRecovery(bench, { faults, seed: 1, runs: 1 })
      expect(hits.size).toBeGreaterThan(0)
      expect(names).toEqual(expect.arrayContaining([...hits.keys()]))
    })
  }

  test('after a mixture, with changes meanwhile', async () => {
    await proveRecovery(bench, { faults: mixedFaults(1), seed: 1, runs: 2, changes: 25 })
  })
})
