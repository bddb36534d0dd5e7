/** Every number of every mart is declared with its additivity, and nothing is inferred from names. */
import { describe, expect, test } from 'vitest'
import { defaultPerspective } from '../../src/dashboard/filters.ts'
import { additivityNotes, withinOf } from '../../src/marts/additivity.ts'
import { readMart, readMarts } from '../../src/marts/mart.ts'
import { measureGaps, measuresOf, separationsOf } from '../../src/marts/measures.ts'

const marts = readMarts()

test('every number of every mart is declared, and every declaration names columns of its mart', () => {
  const gaps = marts.flatMap(mart => measureGaps(mart).map(gap => `mart.${mart.name}: ${gap}`))
  expect(gaps).toEqual([])
})

test('every part of a ratio has a total', () => {
  const totals = marts.flatMap(mart =>
    measuresOf(mart).map(one => [`${mart.name}.${one.column}`, one] as const),
  )
  const none = new Set(totals.filter(([, one]) => one.aggregation === 'none').map(([name]) => name))
  const wrong = marts.flatMap(({ name, fields }) =>
    [...(fields.get('Measures') ?? '').matchAll(/ratio (\w+) = ([^;]+)/g)].flatMap(
      ([, ratio = '', formula = '']) =>
        (formula.match(/[a-z]\w*/g) ?? [])
          .filter(part => none.has(`${name}.${part}`))
          .map(part => `${name}.${ratio}: ${part}`),
    ),
  )
  expect(wrong).toEqual([])
})

/** Words that speak against a plain sum, and the columns that say them and add up all the same. */
const againstSum =
  /^Different |\bnot additive\b|\bof all\b.*\bdenominator\b|^(Highest|Lowest|Longest|Fewest|Most|Median|Share|Average) |\bworker with the most\b|\bfor the company\b|\bof the company name\b|\bup to this one\b/
const againstSumByName =
  /(^|_)(average|avg|median|p\d+|min|max|lower|upper|highest|lowest|longest|shortest|share|ratio|score|distinct|threshold|version|versions|rate|percent|age|gap|index|companies|agencies|sites)(_|$)|_days$|^days_/
const addsUp: readonly string[] = [
  // Days of several records, which the description says are added up.
  'stage_duration.total_days',
  'time_to_fill.within_bounds_days',
  'time_to_fill.time_to_submit_days',
  'time_to_fill.submit_to_accept_days',
  'time_to_fill.time_to_start_days',
  'time_to_fill.time_to_last_seat_days',
  // Within one group, as the same figures of the companies that the service counts.
  'time_to_fill.all_companies_count',
  'time_to_fill.all_companies_days',
  'workers_over_hours.all_companies_worker_weeks',
  'workers_over_hours.all_companies_over_threshold',
  'workers_over_hours.left_out_over_threshold',
  // All spend of the company and month, which is the row.
  'spend_concentration.spend',
  // An amount that is missing.
  'invoice_ledger.credit_notes_gap_value',
]

test('no number whose name or description speaks of one value, or of different ones, is added up', () => {
  const found = marts.flatMap(mart =>
    measuresOf(mart)
      .filter(({ aggregation }) => aggregation === 'sum')
      .flatMap(({ column }) => mart.columns.find(({ name }) => name === column) ?? [])
      .filter(({ name, description }) => againstSum.test(description) || againstSumByName.test(name))
      .map(({ name }) => `${mart.name}.${name}`),
  )
  expect(found.filter(name => !addsUp.includes(name))).toEqual([])
  expect(addsUp.filter(name => !found.includes(name))).toEqual([])
})

test('the perspective that marts show is the one that the dashboard starts with', () => {
  const shown = marts.flatMap(mart => separationsOf(mart))
  expect(shown.length).toBeGreaterThan(2)
  expect(shown.filter(one => one.column !== 'perspective' || one.shown !== defaultPerspective)).toEqual([])
})

const mart = (measures: string) =>
  readMart({
    name: 'mart/a.sql',
    text: `-- What.\n-- Grain: one row per company.\n-- Question: Which?\n-- Sources: star.dim_company\n-- Measures: ${measures}\n-- Columns:\n--   company_id text key: The company.\n--   month_start_date date key: The month.\n--   worker_id text: The worker.\n--   kind text: The kind.\n--   a integer: One.\n--   b bigint: Two.\n--   c double precision: Three.\n--   paid_value numeric(18,4): Paid.\nselect 1;\n`,
  })

describe('a header', () => {
  test.each([
    ['sum a', { column: 'a', aggregation: 'sum', within: [] }],
    ['first a within kind', { column: 'a', aggregation: 'first', within: ['kind'] }],
    ['average a by b', { column: 'a', aggregation: 'average', weight: 'b', within: [] }],
    [
      'average a over month_start_date',
      { column: 'a', aggregation: 'average', period: 'month_start_date', within: [] },
    ],
    ['ratio c = 90 * a / b; sum a', { column: 'a', aggregation: 'sum', within: [] }],
  ])('reads "%s"', (text, measure) => {
    expect(measuresOf(mart(text))[0]).toEqual(measure)
  })

  test('reads formulas, distinct counts and what a whole mart never mixes', () => {
    const made = mart('within kind = x; sum a, b; ratio c = (a - b) / b; distinct workers = worker_id')
    expect(separationsOf(made)).toEqual([{ column: 'kind', shown: 'x' }])
    expect(measuresOf(made).slice(2)).toEqual([
      { column: 'c', aggregation: 'ratio', numerator: '(a - b)', denominator: 'b', within: [] },
      { column: 'paid_value', aggregation: 'none', within: [] },
      { column: 'workers', aggregation: 'distinct', counted: 'worker_id', within: [] },
    ])
  })

  test.each(['most a', 'sum a by b', 'ratio c = a', 'sum', 'within kind'])('refuses "%s"', text => {
    expect(() => measuresOf(mart(text))).toThrow(/is not a measure/)
  })

  test('lists what it does not declare, and what it declares and does not have', () => {
    expect(measureGaps(mart('sum a, d; average c by e within f'))).toEqual([
      'd is not a column',
      'e is not a column',
      'f is not a column',
      'b is not declared',
      'paid_value is not declared',
    ])
  })

  test('a ratio holds within what its parts hold within', () => {
    const made = mart('last a within kind; sum b, paid_value; ratio c = a / paid_value')
    const ratio = measuresOf(made).find(({ column }) => column === 'c')
    expect([...withinOf(made, ratio ?? { column: '', aggregation: 'none', within: [] })].sort()).toEqual([
      'currency',
      'kind',
      'month_start_date',
    ])
    expect(additivityNotes(made).get('c')).toBe(
      ' Does not add up: divide the sum of a by the sum of paid_value. Within one kind. Within one month_start_date. Within one currency.',
    )
  })
})
