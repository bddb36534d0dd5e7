/** A service that fails in every way it can: nothing is lost, nothing is made up, and nobody is pestered. */
import { expect, test } from 'vitest'
import { describeOnEngines } from '../warehouse/fixture.ts'
import { faultNames, mixedFaults, proveRecovery } from './faulty-sync.ts'

describeOnEngines('after faults stop, one sync makes everything right', bench => {
  for (const name of faultNames) {
    test(`after ${name}`, async () => {
      const proof = await proveRecovery(bench, { faults: { [name]: 0.3 }, seed: 1, runs: 1 })
      expect(proof.hits.get(name)).toBeGreaterThan(0)
    })
  }

  test.each([1, 2])('after a mixture (seed %i), with changes meanwhile', async seed => {
    await proveRecovery(bench, { faults: mixedFaults(seed), seed, runs: 2, changes: 25 })
  })
})
