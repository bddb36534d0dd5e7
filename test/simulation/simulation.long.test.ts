/** Runs more seeds than the quick suite has time for, checks that everything happens in them, and finds planted faults. */
import { describe, expect, test } from 'vitest'
import { plantedFaults, widePlantedFaults } from './planted.ts'
import { seedsIn, simulate } from './run-simulation.ts'

describe('a thousand seeds', () => {
  test('break no law on DuckDB, and have every fault, quirk and kill', async () => {
    const result = await simulate('--seeds', '1001-2000', '--sometimes')
    expect(result).toEqual({ code: 0, out: expect.stringContaining('every law held') })
  })

  test('break no law on PostgreSQL, for the first hundred', async () => {
    const result = await simulate('--seeds', '1001-1100', '--engine', 'postgres')
    expect(result).toEqual({ code: 0, out: expect.stringContaining('every law held') })
  })
})

/** The git history of this file says which law each seed broke. */
const onceBroken = [
  ...['6', '9', '10', '208', '210', '217', '227', '3011 --without ties'].map(seed => `${seed} --wide`),
  ...['20205', '6510', '7114', '7216', '11', '139', '44842', '45299'],
]

test.each(onceBroken)('seed %s, which once broke a law, breaks none', async seed => {
  const result = await simulate('--seeds', ...seed.split(' '))
  expect(result).toEqual({ code: 0, out: expect.stringContaining('every law held') })
})

test('a seed makes the same steps in every run', async () => {
  // Temporary files have random names.
  const log = async () =>
    (await simulate('--seeds', '31', '--verbose')).out.replaceAll(/-\w{6}\b|\b[0-9a-f]{12}\b|[\d.]+ s\b/g, '')
  expect(await log()).toBe(await log())
})

/** A planted fault must be found within this many seeds. */
const maxSeeds = 200

describe('a planted fault is found', () => {
  test.each(Object.keys(plantedFaults))('%s', async name => {
    const result = await simulate('--seeds', `1-${maxSeeds}`, '--first', '--plant', name)
    expect(result.out).toContain('broken by seeds')
    expect(seedsIn(result)).toBeLessThanOrEqual(maxSeeds)
  })

  test.each(Object.keys(widePlantedFaults))('%s', async name => {
    const result = await simulate('--seeds', '1-20', '--wide', '--first', '--plant', name)
    expect(result.out).toContain('broken by seeds')
  })
})
