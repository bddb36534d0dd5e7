/** Whether another interpretation of one rule would remove the differences. */
import { describe, expect, test } from 'vitest'
import type { AnswerSet, Score } from '../../../src/crosscheck/calibrate/answer-set.ts'
import { doubt } from '../../../src/crosscheck/calibrate/definition-doubt.ts'
import {
  type DefinitionInForce,
  definitionDefaults,
  type MetricDefinition,
} from '../../../src/crosscheck/metrics/definition.ts'
import type { MetricName } from '../../../src/crosscheck/metrics/metric-query.ts'

interface Setup {
  readonly metric?: MetricName
  readonly which?: 'possible' | 'excluded'
  readonly alive?: DefinitionInForce['alive']
}

/** Figures out of a hundred that differ under a definition. */
async function doubted(
  leftOf: (definition: MetricDefinition) => number,
  { metric = 'timeToFill', which = 'possible', alive }: Setup = {},
) {
  const tried: MetricDefinition[] = []
  const answers = {
    zones: { known: ['UTC', 'Europe/London'] },
    async scores(definitions: readonly MetricDefinition[], aspect: object): Promise<Score[]> {
      expect(aspect).toMatchObject({ metric, isLoose: true })
      tried.push(...definitions)
      return definitions.map(one => ({ agree: 100 - leftOf(one), of: 100, excess: 0 }))
    },
  } as unknown as AnswerSet
  const inForce = { definition: definitionDefaults, id: 'known', ...(alive && { alive }) }
  return { found: await doubt(answers, inForce, { metric, which }), tried }
}

const isDefault = (one: MetricDefinition) => JSON.stringify(one) === JSON.stringify(definitionDefaults)
const changed = (one: MetricDefinition) =>
  Object.entries(one).filter(
    ([rule, value]) =>
      JSON.stringify(value) !== JSON.stringify(definitionDefaults[rule as keyof MetricDefinition]),
  )

test('nothing is in doubt when every figure agrees', async () => {
  expect((await doubted(() => 0)).found).toBeUndefined()
})

test('an interpretation that removes all differences is the cause', async () => {
  const { found } = await doubted(({ days }) => (days === 'ceil' ? 0 : 20))
  expect(found).toEqual({
    definition: { ...definitionDefaults, days: 'ceil' },
    explainsAll: true,
    finding: {
      ...{ metric: 'timeToFill', kind: 'definition', record: undefined, ours: [] },
      theirs: [{ keys: {}, amount: 0 }],
      sentence: 'definition: days ceil instead of fractional would agree; run muster crosscheck --calibrate',
    },
  })
})

test.each([
  [2, true],
  [3, false],
])('one that leaves %i of 20 differences is the cause: %s', async (left, is) => {
  const { found } = await doubted(({ days }) => (days === 'ceil' ? left : 20))
  expect(found?.explainsAll).toBe(is ? false : undefined)
})

test('the one that leaves fewest is named, the first of several', async () => {
  const by = { ceil: 2, floor: 1, round: 1 } as Record<string, number>
  const { found } = await doubted(({ days }) => by[days] ?? 20)
  expect(found?.definition.days).toBe('floor')
})

test('one that calibration excluded explains nothing', async () => {
  const alive = { days: ['"fractional"'] }
  const left = ({ days }: MetricDefinition) => (days === 'ceil' ? 0 : 20)
  expect((await doubted(left, { alive })).found).toBeUndefined()
  expect((await doubted(left, { which: 'excluded' })).found).toBeUndefined()
  const { found } = await doubted(left, { alive, which: 'excluded' })
  expect(found?.finding).toMatchObject({
    kind: 'unknown',
    sentence:
      'definition: days ceil instead of fractional would agree, but calibration had excluded it: records may be missing; run muster crosscheck --calibrate',
  })
})

describe('tried is one rule at a time', () => {
  test.each([
    [
      'timeToFill',
      [
        'quantiles',
        'valueQuantiles',
        'days',
        'negativeDays',
        'acceptance',
        'bounds',
        'minForRule',
        'requisitionStatuses',
        'zone',
        'weekStart',
        'daysDecimals',
      ],
    ],
    [
      'workersOverHours',
      ['timesheetStatuses', 'workerWeek', 'threshold', 'zone', 'weekStart', 'hoursDecimals'],
    ],
  ] as const)('of %s', async (metric, rules) => {
    const { tried } = await doubted(() => 50, { metric })
    expect(tried.filter(isDefault)).toHaveLength(1)
    const single = tried.map(changed).filter(({ length }) => length === 1)
    expect(new Set(single.map(([pair]) => pair?.[0]))).toEqual(new Set(rules))
    expect(new Set(single.filter(([pair]) => pair?.[0] === 'zone').map(([pair]) => pair?.[1]))).toEqual(
      new Set(['Europe/London']),
    )
    const both = tried.map(changed).filter(({ length }) => length > 1)
    expect(both).toHaveLength(metric === 'timeToFill' ? 6 : 0)
  })

  test('and both rules of quantiles together, as most services use one method', async () => {
    const left = (one: MetricDefinition) =>
      one.quantiles === 'type6' && one.valueQuantiles === 'type6' ? 0 : 20
    const { found } = await doubted(left)
    expect(found?.definition).toMatchObject({ quantiles: 'type6', valueQuantiles: 'type6' })
    expect(found?.finding.sentence).toMatch(/^definition: quantiles type6 instead of type7 would agree/)
    const one = { quantiles: ['"type7"', '"type6"'], valueQuantiles: ['"type7"'] }
    expect((await doubted(left, { alive: one })).found).toBeUndefined()
    expect(
      (await doubted(left, { alive: { ...one, quantiles: ['"type7"'], valueQuantiles: ['"type6"'] } })).found,
    ).toBeUndefined()
    expect((await doubted(left, { alive: one, which: 'excluded' })).found).toBeDefined()
  })
})
