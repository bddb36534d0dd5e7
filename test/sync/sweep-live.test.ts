/** Sweeps of a live sandbox over HTTP, in bad weather. */
import { expect, test } from 'vitest'
import { describeOnEngines } from '../warehouse/fixture.ts'
import { proveSweeps } from './sweep-seed.ts'

describeOnEngines(
  'sweeps of a live service',
  bench => {
    test('seed 1', async () => {
      expect(await proveSweeps(bench, 1)).toBeGreaterThan(0)
    }, 60_000)
  },
  'duckdb',
)
