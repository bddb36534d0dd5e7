/** Calibration finds whatever readings the sandbox has: twenty drawn at random, then no figure of any grouping differs. */
import { expect, test } from 'vitest'
import type { MetricDefinition } from '../../src/crosscheck/definition.ts'
import { useFilled } from '../marts/filled-warehouse.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { checking } from './checked.ts'
import { drawnKnobs } from './settings.ts'

const scale = 0.4
const filled = useFilled({ scale })
const seeds = Array.from({ length: 20 }, (_, index) => 100 + index)

function readingsOf(knobs: ReturnType<typeof drawnKnobs>): Partial<MetricDefinition> {
  const decimals = knobs.decimals === 'none' ? null : (knobs.decimals ?? null)
  return {
    quantiles: knobs.quantiles,
    valueQuantiles: knobs.quantiles,
    days: knobs['fill-days'],
    acceptance: knobs.acceptance,
    bounds: knobs['outlier-bounds'],
    leastForRule: knobs['outlier-least'],
    weekStart: knobs['week-start'],
    weekKey: knobs['week-key'],
    monthKey: knobs['month-key'],
    refKey: knobs['group-ref'],
    threshold: knobs.threshold,
    requisitionStatuses: knobs['fill-statuses'],
    timesheetStatuses: knobs['hours-statuses'],
    hoursField: knobs['hours-field'],
    daysDecimals: decimals,
    hoursDecimals: decimals,
    zone: knobs['day-zone'],
    from: knobs.from,
    to: knobs.to,
  } as Partial<MetricDefinition>
}

test.each(seeds)('readings drawn with %i', { timeout: 300_000 }, async seed => {
  const knobs = drawnKnobs(seed)
  const sandbox = await openSandbox({ scale, knobs })
  const { engine } = await filled.duckdb()
  const { calibrated, checked } = checking(sandbox, engine)
  const found = await calibrated()
  for (const [rule, reading] of Object.entries(readingsOf(knobs))) {
    const state = found.rules.get(rule as keyof MetricDefinition)
    const alive =
      state?.state === 'indistinguishable' ? state.alive : [found.definition[rule as keyof MetricDefinition]]
    expect({ rule, alive }).toEqual({ rule, alive: expect.arrayContaining([reading]) })
  }
  expect(found.requests).toBeLessThan(40)
  const result = await checked(found)
  expect(result.rows.filter(({ verdict }) => verdict !== 'equal')).toEqual([])
})
