/** More seeds than the quick suite has time for; that everything happens in them; and that planted faults are found. */
import { describe, expect, test } from 'vitest'
import { planted, widePlanted } from './planted.ts'
import { seedsIn, simulate } from './simulated.ts'

describe('a thousand seeds', () => {
  test('on DuckDB hold every law, and every fault, quirk and kill happens in them', async () => {
    const simulated = await simulate('--seeds', '1001-2000', '--sometimes')
    expect(simulated).toEqual({ code: 0, out: expect.stringContaining('every law held') })
  })

  test('on PostgreSQL, a hundred of them', async () => {
    const simulated = await simulate('--seeds', '1001-1100', '--engine', 'postgres')
    expect(simulated).toEqual({ code: 0, out: expect.stringContaining('every law held') })
  })
})

/** The history of this file in git says which law each seed broke. */
const onceBroken = [
  ...['6', '9', '10', '208', '210', '217', '227', '3011 --without ties'].map(seed => `${seed} --wide`),
  ...['20205', '6510', '7114', '7216', '11', '139', '44842', '45299'],
]

test.each(onceBroken)('seed %s, which once broke a law, holds every law', async seed => {
  const simulated = await simulate('--seeds', ...seed.split(' '))
  expect(simulated).toEqual({ code: 0, out: expect.stringContaining('every law held') })
})

test('a seed makes the same steps whenever it is run', async () => {
  // Temporary files have random names.
  const log = async () =>
    (await simulate('--seeds', '31', '--verbose')).out.replaceAll(/-\w{6}\b|\b[0-9a-f]{12}\b|[\d.]+ s\b/g, '')
  expect(await log()).toBe(await log())
})

/** A fault that is planted is found within so many seeds. */
const maxSeeds = 200

describe('a planted fault is found', () => {
  test.each(Object.keys(planted))('%s', async name => {
    const simulated = await simulate('--seeds', `1-${maxSeeds}`, '--first', '--plant', name)
    expect(simulated.out).toContain('broken by seeds')
    expect(seedsIn(simulated)).toBeLessThanOrEqual(maxSeeds)
  })

  test.each(Object.keys(widePlanted))('%s', async name => {
    const simulated = await simulate('--seeds', '1-20', '--wide', '--first', '--plant', name)
    expect(simulated.out).toContain('broken by seeds')
  })
})
