/** The verdict on each figure: equal, explained by records or a definition, uncovered, or unexplained. */
import { describe, expect, test } from 'vitest'
import type { CrosscheckFinding } from '../../src/crosscheck/explain/finding.ts'
import { definitionDefaults, type MetricDefinition } from '../../src/crosscheck/metrics/definition.ts'
import type { MetricName } from '../../src/crosscheck/metrics/metric-query.ts'
import { verdictsOf } from '../../src/crosscheck/verdict.ts'

const askedAt = '2026-11-02T03:00:00.000Z'
const earlier = '2026-11-02T02:58:59.999Z'
/** Clocks may differ by a minute. */
const meanwhile = '2026-11-02T02:59:00.000Z'

const finding = (parts: Partial<CrosscheckFinding> & { amount?: number } = {}): CrosscheckFinding => {
  const { amount = 0, ...rest } = parts
  return {
    ...{ metric: 'workersOverHours', kind: 'newer', record: 'TS-1', sentence: 'one', changedAt: earlier },
    ...{ ours: [], theirs: [{ keys: { project: 'p1' }, amount }] },
    ...rest,
  }
}

interface Setup {
  readonly metric?: MetricName
  readonly more?: number
  readonly definition?: Partial<MetricDefinition>
}

function judged(
  findings: readonly CrosscheckFinding[],
  { metric = 'workersOverHours', more = 8, definition = {} }: Setup = {},
) {
  const figure = metric === 'timeToFill' ? 'rawCount' : 'totalHours'
  const count = metric === 'timeToFill' ? {} : { workerWeeks: 10 }
  return verdictsOf(
    {
      ...{ groupBy: 'project', label: 'p1', keys: { project: 'p1' }, group: {} },
      ...{ ours: { ...count, [figure]: 400 }, theirs: { ...count, [figure]: 400 + more } },
    },
    {
      metric,
      keys: { project: 'p1' },
      findings,
      definition: { ...definitionDefaults, ...definition },
      askedAt,
    },
  ).find(one => one.figure === figure)
}
const verdict = (findings: readonly CrosscheckFinding[], setup: Setup = {}) =>
  judged(findings, setup)?.verdict

test('figures that agree are equal, without a reason, whatever was found', () => {
  const all = verdictsOf(
    {
      ...{ groupBy: 'project', label: 'p1', keys: {}, group: {} },
      ...{ ours: { workerWeeks: 10, totalHours: 400 }, theirs: { workerWeeks: 10, totalHours: 408 } },
    },
    {
      metric: 'workersOverHours',
      keys: { project: 'p1' },
      findings: [finding({ amount: 8 })],
      definition: definitionDefaults,
      askedAt,
    },
  )
  expect(all).toHaveLength(7)
  expect(all.find(({ figure }) => figure === 'workerWeeks')).toEqual({
    ...{ figure: 'workerWeeks', ours: 10, theirs: 10, difference: 0 },
    ...{ verdict: 'equal', reason: null, records: null },
  })
  expect(all.find(({ figure }) => figure === 'totalHours')).toEqual({
    ...{ figure: 'totalHours', ours: 400, theirs: 408, difference: -8 },
    ...{ verdict: 'explained', reason: 'one', records: '["TS-1"]' },
  })
})

test('a difference without a finding is unexplained', () => {
  expect(judged([])).toMatchObject({
    verdict: 'unexplained',
    reason: 'no differing record was found',
    records: null,
  })
})

test('other days of as many acceptances are unexplained without a finding', () => {
  const [count, days] = verdictsOf(
    {
      ...{ groupBy: 'project', label: 'p1', keys: {}, group: {} },
      ...{ ours: { rawCount: 2, averageDays: 3 }, theirs: { rawCount: 2, averageDays: 4 } },
    },
    { metric: 'timeToFill', keys: {}, findings: [], definition: definitionDefaults, askedAt },
  ).filter(({ figure }) => figure === 'rawCount' || figure === 'averageDays')
  expect([count?.verdict, days?.verdict]).toEqual(['equal', 'unexplained'])
})

describe('a difference is explained', () => {
  test.each([
    ['by a record that adds all of it', [finding({ amount: 8 })], 'explained'],
    ['not by one that adds a part', [finding({ amount: 7 })], 'unexplained'],
    ['by two that add it together', [finding({ amount: 5 }), finding({ amount: 3 })], 'explained'],
    ['not by one of another metric', [finding({ amount: 8, metric: 'timeToFill' })], 'unexplained'],
    [
      'not by one of another group',
      [finding({ theirs: [{ keys: { project: 'p2' }, amount: 8 }] })],
      'unexplained',
    ],
    ['not by one that was lost', [finding({ amount: 8, kind: 'lost' })], 'unexplained'],
    ['not beside one that was lost', [finding({ amount: 8 }), finding({ kind: 'lost' })], 'unexplained'],
    [
      'by another definition, whatever it adds',
      [finding({ kind: 'definition', record: undefined as never })],
      'explained',
    ],
    [
      'by another definition beside one that adds a part',
      [finding({ kind: 'definition' }), finding({ amount: 3 })],
      'explained',
    ],
    [
      'not by another definition beside one that was lost',
      [finding({ kind: 'definition' }), finding({ kind: 'lost' })],
      'unexplained',
    ],
    [
      'by one of which nobody knows the id: uncovered',
      [finding({ amount: 8, kind: 'uncovered' })],
      'uncovered',
    ],
    [
      'partly by such a one: uncovered',
      [finding({ amount: 5 }), finding({ amount: 3, kind: 'uncovered' })],
      'uncovered',
    ],
    ['not by such a one that adds a part', [finding({ amount: 7, kind: 'uncovered' })], 'unexplained'],
  ] as const)('%s', (_, findings, expected) => {
    expect(verdict(findings)).toBe(expected)
  })
})

describe('a record that changed while figures were asked for', () => {
  test.each([
    [
      'a minute before, as clocks differ, is in or not',
      [finding({ amount: 8 }), finding({ amount: 40, changedAt: meanwhile })],
      'explained',
    ],
    [
      'more than that before is in',
      [finding({ amount: 8 }), finding({ amount: 40, changedAt: earlier })],
      'unexplained',
    ],
    [
      'at a time that is unknown is in',
      [finding({ amount: 8 }), finding({ amount: 40, changedAt: null })],
      'unexplained',
    ],
    [
      'and is gone is in or not',
      [finding({ amount: 8 }), finding({ amount: -40, kind: 'deleted' })],
      'explained',
    ],
    [
      'but is not newer is in',
      [finding({ amount: 8 }), finding({ amount: 40, kind: 'missing', changedAt: meanwhile })],
      'unexplained',
    ],
    ['is all of it or nothing', [finding({ amount: 16, changedAt: meanwhile })], 'unexplained'],
  ] as const)('%s', (_, findings, expected) => {
    expect(verdict(findings)).toBe(expected)
  })

  test('is one of a sum of some', () => {
    const some = [1, 2, 4, 8].map(amount => finding({ amount, changedAt: meanwhile }))
    for (const more of [0, 1, 5, 11, 15])
      expect([more, verdict(some, { more: more || 1 })]).toEqual([more, 'explained'])
    expect(verdict(some, { more: 16 })).toBe('unexplained')
    expect(verdict(some, { more: 0.5 })).toBe('unexplained')
  })

  test('is one of a hundred that add up in few ways', () => {
    const hundred = Array.from({ length: 100 }, (_, index) =>
      finding({ amount: 7.5 + (index % 3), changedAt: meanwhile }),
    )
    expect(verdict(hundred, { more: 7.5 + 8.5 + 9.5 })).toBe('explained')
    expect(verdict(hundred, { more: -7.5 })).toBe('unexplained')
  })

  test('is tried with the others in at most 20,000 ways', () => {
    // Digits of a number in mixed radix, so that each sum is another one: 2^5 * 5^4 are 20,000.
    const digits = [...[1, 2, 4, 8, 16], ...[32, 160, 800, 4000].flatMap(base => Array(4).fill(base))]
    const some = digits.map(amount => finding({ amount, changedAt: meanwhile }))
    expect(verdict(some, { more: 5 })).toBe('explained')
    const more = [...some, finding({ amount: 20_000, changedAt: meanwhile })]
    expect(verdict(more, { more: 5 })).toBe('unexplained')
  })

  test('with very many others is only tried with all of them', () => {
    const many = Array.from({ length: 15 }, (_, index) =>
      finding({ amount: 2 ** index, changedAt: meanwhile }),
    )
    expect(verdict(many, { more: 2 ** 15 - 1 })).toBe('explained')
    expect(verdict(many, { more: 5 })).toBe('unexplained')
    expect(verdict(many.slice(0, 14), { more: 5 })).toBe('explained')
  })
})

test.each([
  [null, 8.000001, 'explained'],
  [null, 8.01, 'unexplained'],
  [2, 8.01, 'explained'],
  [2, 8.02, 'unexplained'],
  [0, 9, 'explained'],
  [0, 9.1, 'unexplained'],
] as const)('hours with %j decimals: a sum of 8 explains %d: %s', (hoursDecimals, more, expected) => {
  const shown = verdict([finding({ amount: 8 })], { more, definition: { hoursDecimals } })
  expect(shown).toBe(expected)
})

test.each([
  [1, 'explained'],
  [2, 'unexplained'],
] as const)('an acceptance explains %i more: %s', (more, expected) => {
  const one = finding({ metric: 'timeToFill', amount: 1 })
  expect(verdict([one], { metric: 'timeToFill', more, definition: { hoursDecimals: 0 } })).toBe(expected)
})

/** The verdict on hours of a group, of which only these sides are known. */
const verdictOnSides = (sides: object) =>
  verdictsOf(
    {
      ...{ groupBy: 'project', label: 'p1', keys: {}, group: {} },
      ours: undefined,
      theirs: undefined,
      ...sides,
    },
    {
      metric: 'workersOverHours',
      keys: {},
      findings: [finding({ amount: 8 })],
      definition: definitionDefaults,
      askedAt,
    },
  ).find(({ figure }) => figure === 'totalHours')

test('a group that is missing on one side has nothing there', () => {
  expect(verdictOnSides({ theirs: { totalHours: 8 } }), 'missing on our side').toMatchObject({
    ours: null,
    theirs: 8,
    difference: null,
    verdict: 'explained',
  })
  expect(verdictOnSides({ ours: { totalHours: 8 } }), 'missing on their side').toMatchObject({
    ours: 8,
    theirs: null,
    verdict: 'unexplained',
  })
})

test('a reason has five sentences, each once, and says how many more; all records are listed, each once', () => {
  const some = (count: number) =>
    judged(
      Array.from({ length: count }, (_, index) => finding({ sentence: `s${index}`, record: `TS-${index}` })),
    )
  expect(some(5)?.reason).toBe('s0; s1; s2; s3; s4')
  expect(some(7)?.reason).toBe('s0; s1; s2; s3; s4; and 2 more')
  expect(JSON.parse(some(7)?.records ?? '')).toHaveLength(7)
  expect(judged([finding({ kind: 'definition', record: undefined })])?.records).toBeNull()
  const same = judged([finding(), finding()])
  expect([same?.reason, same?.records]).toEqual(['one', '["TS-1"]'])
})
