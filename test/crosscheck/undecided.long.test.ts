/** What the answers of the service cannot tell apart, calibration does not guess. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { checking } from './checked.ts'

const filled = useFilled()

test('a rule that the data does not decide keeps its default, and is reported as undecided', async () => {
  const sandbox = await openSandbox({
    scale: 0.2,
    options: { 'outlier-min': 6, 'outlier-bounds': 'exclusive' },
  })
  const found = await checking(sandbox, (await filled.duckdb()).engine).calibrated()
  // No group of six or more has a value exactly on a bound.
  expect(found.rules.get('bounds')).toMatchObject({
    state: 'indistinguishable',
    alive: ['inclusive', 'exclusive'],
  })
  expect([found.definition.bounds, found.definition.minForRule]).toEqual(['inclusive', 6])
})
