/** Calibration finds whatever readings the sandbox has: twenty drawn at random, then no figure of any grouping differs. */
import { expect, test } from 'vitest'
import type { MetricDefinition } from '../../src/crosscheck/metrics/definition.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { checking } from './checked.ts'
import { drawnOptions, readingsOf } from './settings.ts'

const scale = 0.4
const filled = useFilled({ scale })
const seeds = Array.from({ length: 20 }, (_, index) => 100 + index)

test.each(seeds)('readings drawn with %i', { timeout: 300_000 }, async seed => {
  const options = drawnOptions(seed)
  const sandbox = await openSandbox({ scale, options })
  const { engine } = await filled.duckdb()
  const { calibrated, checked } = checking(sandbox, engine)
  const found = await calibrated()
  for (const [rule, reading] of Object.entries(readingsOf(options))) {
    const state = found.rules.get(rule as keyof MetricDefinition)
    // An offset to the minute can be told only where a record lies between it and its neighbours.
    if (rule === 'zone' && /^[+-]/.test(String(reading))) continue
    const alive =
      state && state.state !== 'found' ? state.alive : [found.definition[rule as keyof MetricDefinition]]
    expect({ rule, alive }).toEqual({ rule, alive: expect.arrayContaining([reading]) })
  }
  expect(found.requests).toBeLessThan(40)
  const result = await checked(found)
  expect(result.rows.filter(({ verdict }) => verdict !== 'equal')).toEqual([])
})

test('a tenth of the requisitions missing does not mislead it', async () => {
  const options = {
    quantiles: 'type6',
    'fill-days': 'calendarLondon',
    'week-start': 'saturday',
    decimals: 2,
  } as const
  const sandbox = await openSandbox({ scale, options })
  const { engine } = await filled.duckdb()
  const some = `(select requisition_id from (select requisition_id, row_number() over (order by reference) as n from star.fact_requisition) as numbered where n % 10 = 3)`
  await engine.run(`delete from star.fact_requisition_agency where requisition_id in ${some}`)
  await engine.run(`delete from star.fact_requisition where requisition_id in ${some}`)
  const found = await checking(sandbox, engine).calibrated()
  expect(found.definition).toMatchObject({
    ...{
      quantiles: 'type6',
      days: 'calendarLondon',
      weekStart: 'saturday',
      daysDecimals: 2,
      acceptance: 'perAgency',
    },
  })
})
