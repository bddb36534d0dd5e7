/** What the answers of the service cannot tell apart, calibration does not guess. */
import { expect, test } from 'vitest'
import { useFilled } from '../marts/filled-warehouse.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { checking } from './checked.ts'

const filled = useFilled()

test('a rule that the data cannot tell is left at its default, and said to be', async () => {
  const sandbox = await openSandbox({
    scale: 0.2,
    options: { 'outlier-least': 6, 'outlier-bounds': 'exclusive' },
  })
  const found = await checking(sandbox, (await filled.duckdb()).engine).calibrated()
  // No group of six or more has a value exactly on a bound.
  expect(found.rules.get('bounds')).toMatchObject({
    state: 'indistinguishable',
    alive: ['inclusive', 'exclusive'],
  })
  expect([found.definition.bounds, found.definition.leastForRule]).toEqual(['inclusive', 6])
})
