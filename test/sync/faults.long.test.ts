/** The same with 200 mixtures: every fault strikes, some runs fail, and every warehouse ends right. */
import { expect, test } from 'vitest'
import { faultNames } from '../fault-layer/faults.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { mixedFaults, proveRecovery } from './faulty-sync.ts'

const seeds = Array.from({ length: 200 }, (_, index) => index + 1)

describeOnEngines('after any mixture of faults', bench => {
  const hits = new Set<string>()
  let failedRuns = 0

  test.each(seeds)('one sync makes everything right (seed %i)', async seed => {
    const proof = await proveRecovery(bench, {
      faults: mixedFaults(seed),
      seed,
      runs: 1 + (seed % 3),
      changes: 40,
    })
    failedRuns += proof.failedRuns
    for (const name of proof.hits.keys()) hits.add(name)
  })

  test.each(faultNames)('one sync makes everything right (%s alone)', async name => {
    const proof = await proveRecovery(bench, { faults: { [name]: 0.3 }, seed: 1, runs: 1 })
    expect(proof.hits.get(name)).toBeGreaterThan(0)
  })

  test('every fault struck, and some runs failed', () => {
    expect([...hits].sort()).toEqual([...faultNames].sort())
    expect(failedRuns).toBeGreaterThan(0)
  })
})
